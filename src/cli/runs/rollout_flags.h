// The flags that decide what a rollout does: `apply`, `plan` and `diff` have them in common.
#pragma once

#include <string>
#include <vector>

#include "cli/core/flags.h"
#include "cli/input/sources.h"
#include "rollout/rollout.h"

namespace fairlead::cli {

struct RolloutFlags {
  SourceFlags sources;
  std::string name;
  bool create_namespace = false;
  bool prune = false;
  bool with_contents = false;
  std::string timeout = "15m";
  std::string field_manager = "fairlead";
  bool force_conflicts = false;
  bool adopt = false;
  std::vector<std::string> only;
  std::vector<std::string> skip;
  size_t concurrency = 0;
};

void add_rollout_flags(Command command, RolloutFlags& flags);

// Returns the options of a run of this process. Fails if the flags make no sense.
Result<rollout::Options> rollout_options(const RolloutFlags& flags);

}  // namespace fairlead::cli
