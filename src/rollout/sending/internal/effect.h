// Finds out what an apply did from its answer: created, changed or unchanged.
#pragma once

#include "kube/outcome.h"
#include "rollout/core/run.h"

namespace fairlead::rollout {

// True if, in a dry run, only a comparison with the object in the cluster can tell whether the apply would change it.
bool is_in_doubt(const Run& run, NodeId node, const kube::Reply& reply);

// Returns what the apply did. If the object was read before, the two forms are compared, without field owners and
// status. Otherwise the time in our field manager's entry decides, since the API server sets it only if the apply
// changes something: the object is unchanged if that time is earlier than the run by more than clocks differ, or if its
// version shows that it was last written before the run.
ObjectState::Stored effect_of(const Run& run, NodeId node, const kube::Reply& reply);

// Returns the object's resourceVersion, a number that grows with every write; 0 if it is not a number.
uint64_t version_number(const Json& object);

}  // namespace fairlead::rollout
