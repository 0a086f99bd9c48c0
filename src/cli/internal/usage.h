// Help, and what is said about a command line that is wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/core/parser.h"

namespace fairlead::cli {

// `help apply` is `apply --help`.
std::vector<std::string> without_help_command(std::vector<std::string> words);

// `help WORD` where there is no such command: prints that, and gives the exit code.
std::optional<int> report_unknown_topic(Command app, const std::vector<std::string>& words);

// What the parser stopped at: a wish for help, or a mistake. Prints it and gives the exit code.
int report_usage(Command app, const ParseFailure& failure);

}  // namespace fairlead::cli
