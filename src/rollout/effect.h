// What an apply has done, from its answer: created, changed or left as it was.
#pragma once

#include "kube/outcome.h"
#include "rollout/run.h"

namespace fairlead::rollout {

// In a dry run: nothing but a comparison with the object as it is can tell whether the apply would change it.
bool is_in_doubt(const Run& run, uint32_t node, const kube::Reply& reply);

// Where the object was read before, a comparison tells; who owns which field, and the status, do not count. Otherwise
// the entry of our field manager does, whose time the API server sets only when the apply changes something; it counts
// where the object was last written before this run, or where it is older than clocks differ.
ObjectState::Stored effect_of(const Run& run, uint32_t node, const kube::Reply& reply);

// Versions of the API server are numbers that grow; one that is none counts as old.
uint64_t version_number(const Json& object);

}  // namespace fairlead::rollout
