// Why the pods of a workload do not start: what they say themselves, and which Secrets and ConfigMaps they miss.
#pragma once

#include "rollout/evidence.h"
#include "rollout/run.h"

namespace fairlead::rollout {

// What the pods of an object of the bundle say; nothing for what makes no pods, and while pods are not known.
// `workload` is the object with the uid and the selector that the API server gave it.
readiness::Why why_pods(const Run& run, const Evidence& evidence, uint32_t node, const Json& workload);

// An object of the bundle, with what the API server gave it that ties pods to it.
Json as_stored(const Run& run, uint32_t node);

// Names the Secrets and ConfigMaps that the pods of the workload (or behind the Service) wait for and that do not
// exist. The kubelet reports them in the container's state, or in an Event if a volume cannot be mounted.
void add_missing(readiness::Why& why, const Run& run, const Evidence& evidence, const Json& workload);

}  // namespace fairlead::rollout
