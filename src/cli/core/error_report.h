// How a command reports errors: as text for people, or as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace fairlead::cli {

// Prints an error as people read it, on standard error, and returns the exit code that goes with it. If the command
// line has -o json or -o jsonl, programs get the error instead: print_errors_for_programs().
int report(const Error& error);
// The same for an error in the command line itself, which has an exit code of its own.
int report_usage_error(const Error& error);

// Call it with the words of the command line before anything is reported.
void set_error_format(const std::vector<std::string>& words);
// Call it at the end of the process: prints the errors that were reported as one document of JSON, or as one line of
// it.
void print_errors_for_programs(int exit_code);

}  // namespace fairlead::cli
