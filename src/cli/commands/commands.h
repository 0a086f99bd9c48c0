// The commands: one file per command, each with an add_… function that describes the command to the parser.
//
// This is the first header to read of the rooms in cli. They turn flags into calls of other rooms, and results into
// lines and exit codes; they decide nothing themselves.
#pragma once

#include <span>
#include <string>

#include "cli/core/flags.h"
#include "cli/core/invocation.h"

namespace fairlead::cli {

void add_apply(Command app, Invocation& invocation);
void add_certs(Command app, Invocation& invocation);
void add_completion(Command app, Invocation& invocation);
void add_delete(Command app, Invocation& invocation);
void add_diff(Command app, Invocation& invocation);
void add_doctor(Command app, Invocation& invocation);
void add_gate(Command app, Invocation& invocation);
void add_graph(Command app, Invocation& invocation);
void add_history(Command app, Invocation& invocation);
void add_list(Command app, Invocation& invocation);
void add_logs(Command app, Invocation& invocation);
void add_plan(Command app, Invocation& invocation);
void add_retry(Command app, Invocation& invocation);
void add_rollback(Command app, Invocation& invocation);
void add_run(Command app, Invocation& invocation);
void add_sandbox(Command app, Invocation& invocation);
void add_shell_functions(Command app, Invocation& invocation);
void add_status(Command app, Invocation& invocation);
void add_timeline(Command app, Invocation& invocation);
void add_trace(Command app, Invocation& invocation);
void add_version(Command app, Invocation& invocation);
void add_wait(Command app, Invocation& invocation);
void add_webhook(Command app, Invocation& invocation);
// Below `fairlead webhook`.
void add_webhook_controller(Command webhook, Invocation& invocation);
void add_webhook_manifests(Command webhook, Invocation& invocation);

// The engine behind the completion scripts, called as `fairlead __complete -- WORD…`: prints the candidates for the
// last word.
int print_candidates(Command app, std::span<const std::string> words);

}  // namespace fairlead::cli
