// The flags that say what a run prints: -o, --progress, --all.
#pragma once

#include <string>

#include "base/error.h"
#include "cli/core/flags.h"
#include "cli/core/globals.h"
#include "report/display.h"

namespace fairlead::cli {

struct OutputFlags {
  std::string output = "text";
  std::string progress;
  bool all = false;
};

void add_output_flags(Command command, OutputFlags& flags);
// Adds the flags without --all, for a command that always has a line for every object.
void add_format_flags(Command command, OutputFlags& flags);

// Decides where progress goes, and in which form: by the flags, by $FAIRLEAD_PROGRESS, and by which streams are
// terminals. Fails if --progress tty was asked for and there is no terminal.
Result<report::Settings> output_settings(const OutputFlags& flags, const Globals& globals);

}  // namespace fairlead::cli
