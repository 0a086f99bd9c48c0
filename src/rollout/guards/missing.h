// Explains why the pods of a workload do not start: from their status, and from the Secrets and ConfigMaps that are
// missing.
#pragma once

#include "rollout/core/run.h"
#include "rollout/guards/evidence.h"

namespace fairlead::rollout {

// Returns what the pods of an object of the bundle report; nothing if the object creates no pods, or while pods are not
// known. `workload` is the object with the uid and the selector that the API server gave it.
readiness::Why why_pods(const Run& run, const Evidence& evidence, NodeId node, const Json& workload);

// Returns an object of the bundle with the fields that the API server set to tie pods to it.
Json as_stored(const Run& run, NodeId node);

// Names the Secrets and ConfigMaps that do not exist and that pods of the workload (or behind the Service) wait for.
// The kubelet reports them in the container's state, or in an Event if a volume cannot be mounted.
void add_missing(readiness::Why& why, const Run& run, const Evidence& evidence, const Json& workload);

}  // namespace fairlead::rollout
