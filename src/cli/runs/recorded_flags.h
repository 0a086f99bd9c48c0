// The flags of one command line, written down so that another command can be given the same.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/core/flags.h"
#include "cli/runs/plan_file.h"

namespace fairlead::cli {

// Returns the flags that the user gave to the command, besides those in `except`. Names of files become absolute.
std::vector<PlanFile::Flag> recorded_flags(Command command, const std::vector<std::string>& except);

// Parses the recorded flags together with those that the user gave to `command` now, which win. `add_flags` describes
// the flags, and says where their values go. Recorded flags that the command does not have are left out. Fails if they
// cannot be used.
Result<void> parse_again(const std::vector<PlanFile::Flag>& flags, Command command,
                         const std::function<void(Command)>& add_flags);

}  // namespace fairlead::cli
