// Builds the result of a run.
#pragma once

#include "rollout/core/run.h"
#include "rollout/rollout.h"

namespace fairlead::rollout {

// Builds the result from the state of the run. The caller adds `took`, `requests` and the pruned objects.
Ending ending_of(const Run& run);

// Returns the objects of a bundle, each as not sent.
std::vector<ObjectEnding> none_sent(const manifest::Bundle& bundle);

}  // namespace fairlead::rollout
