// How a run ended. Rollouts, removals and waits say it in the same words.
#pragma once

#include <string_view>

namespace fairlead::journal {

enum class Outcome {
  done,
  failed,
  timed_out,
  conflicts,  // somebody else owns a field that the rollout was to set
  interrupted,
  declined,  // the user said no
};

// Returns "done", "timed out" and so on.
std::string_view name_of(Outcome outcome);

}  // namespace fairlead::journal
