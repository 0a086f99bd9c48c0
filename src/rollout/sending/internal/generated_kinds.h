// Explains why an object waits whose kind the cluster does not serve yet.
#pragma once

#include "rollout/core/run.h"

namespace fairlead::rollout {

// Returns a fault that names the KindGenerator for which a controller has to create the object's kind, and how far that
// one is.
kube::Fault kind_fault(const Run& run, NodeId node);

}  // namespace fairlead::rollout
