// The flags of one command line, written down so that another command can be given the same.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/runs/plan_file.h"

namespace fairlead::cli {

// Returns the flags that the user gave to the command, besides those in `except`. Names of files become absolute.
std::vector<PlanFile::Flag> recorded_flags(const CLI::App& command, const std::vector<std::string>& except);

// Returns the words of a command line with the recorded flags and those that the user gave to `command` now, which win.
// Flags that the command does not have are left out.
std::vector<std::string> words_of(const std::vector<PlanFile::Flag>& flags, const CLI::App& command);

}  // namespace fairlead::cli
