// What a command may use of the command line, and where it leaves what is to be done.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/core/globals.h"
#include "config/config.h"

namespace fairlead::cli {

struct Invocation {
  Globals globals;
  // The words behind --.
  std::vector<std::string> behind;
  // fairlead.yaml, if the command line names no bundle and no sources itself.
  std::optional<config::Config> config;
  // Set by the command that was given. It is called once, after parsing, and returns the exit code.
  std::function<int()> run;
};

}  // namespace fairlead::cli
