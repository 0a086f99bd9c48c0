// The command line: one file a command, each with an add_… function that describes it to the parser.
//
// This is the room's first header. cli turns flags into calls of the other rooms and their results into lines and exit
// codes; it decides nothing itself.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/exit_code.h"
#include "cli/globals.h"
#include "config/config.h"

namespace fairlead::cli {

// What a command may use, and where it leaves what is to be done: `run` is called once, after parsing.
struct Invocation {
  Globals globals;
  // The words behind --.
  std::vector<std::string> behind;
  // fairlead.yaml, if the command line names no bundle and no sources itself.
  std::optional<config::Config> config;
  std::function<int()> run;
};

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

// The engine behind the completion scripts, called as `fairlead __complete -- WORD…`: candidates for the last word.
int print_candidates(const CLI::App& app, std::span<const std::string> words);

// Prints an error as people read it, on standard error, and gives the exit code that goes with it. If the command line
// has -o json or -o jsonl, programs get the error instead: print_errors_for_programs().
int report(const Error& error);

// Call it with the words of the command line before anything is reported.
void set_error_format(const std::vector<std::string>& words);
// Call it at the end of the process: prints the errors that were reported as one document of JSON, or as one line of
// it.
void print_errors_for_programs(int exit_code);

}  // namespace fairlead::cli
