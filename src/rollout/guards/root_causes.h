// Groups the failures of a run by root cause, so that a report shows each cause once, with the objects that it blocks.
#pragma once

#include <vector>

#include "rollout/core/run.h"

namespace fairlead::rollout {

struct RootCause {
  Error error;
  // The objects that were not sent or not accepted because of it, in the order of the bundle.
  std::vector<NodeId> blocks;
  // The objects that are stored and not ready: they are part of the cause.
  std::vector<NodeId> not_ready = {};
};

// Every error of the run belongs to exactly one root cause. Root causes are in the order of the bundle.
std::vector<RootCause> root_causes(const Run& run);

// True if the object failed because something else does not work, such as a webhook that does not answer or a namespace
// that does not exist. False if the API server refused the object itself.
bool is_blocked(const Run& run, NodeId node);

// Returns the guard that an API server's answer names.
std::optional<GuardId> find_guard(const Run& run, const kube::FaultWebhook& webhook);

}  // namespace fairlead::rollout
