// Groups what failed in a run by its root cause, so that a report tells each cause once and names what it blocks.
#pragma once

#include <vector>

#include "rollout/run.h"

namespace fairlead::rollout {

struct RootCause {
  Error error;
  // The objects that were not sent or not accepted because of it, in the order of the bundle.
  std::vector<uint32_t> blocks;
};

// Every error of the run is part of exactly one root cause. They come in the order of the bundle.
std::vector<RootCause> root_causes(const Run& run);

// True if the object failed because something else does not work: a webhook that does not answer, a namespace that is
// not there. False if the API server refused the object itself.
bool is_blocked(const Run& run, uint32_t node);

// The guard that the answer of an API server speaks of.
std::optional<uint32_t> find_guard(const Run& run, const kube::FaultWebhook& webhook);

}  // namespace fairlead::rollout
