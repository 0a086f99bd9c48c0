// The commands: one file per command, each with an add_… function that describes the command to the parser.
//
// This is the first header to read of the rooms in cli. They turn flags into calls of other rooms, and results into
// lines and exit codes; they decide nothing themselves.
#pragma once

#include <CLI/App.hpp>
#include <span>
#include <string>

#include "cli/core/invocation.h"

namespace fairlead::cli {

void add_apply(CLI::App& app, Invocation& invocation);
void add_completion(CLI::App& app, Invocation& invocation);
void add_delete(CLI::App& app, Invocation& invocation);
void add_diff(CLI::App& app, Invocation& invocation);
void add_graph(CLI::App& app, Invocation& invocation);
void add_history(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_logs(CLI::App& app, Invocation& invocation);
void add_plan(CLI::App& app, Invocation& invocation);
void add_rollback(CLI::App& app, Invocation& invocation);
void add_sandbox(CLI::App& app, Invocation& invocation);
void add_status(CLI::App& app, Invocation& invocation);
void add_timeline(CLI::App& app, Invocation& invocation);
void add_trace(CLI::App& app, Invocation& invocation);
void add_version(CLI::App& app, Invocation& invocation);

// The engine behind the completion scripts, called as `fairlead __complete -- WORD…`: prints the candidates for the
// last word.
int print_candidates(const CLI::App& app, std::span<const std::string> words);

}  // namespace fairlead::cli
