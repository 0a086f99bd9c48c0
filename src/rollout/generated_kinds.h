// Objects of kinds that the cluster does not serve before something else of the rollout has happened.
#pragma once

#include "rollout/run.h"

namespace fairlead::rollout {

// What an object waits for whose kind is not served yet: who makes it, and how far that is.
kube::Fault kind_fault(const Run& run, uint32_t node);

}  // namespace fairlead::rollout
