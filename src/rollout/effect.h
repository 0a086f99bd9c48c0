// What an apply has done, from its answer alone: created, changed or left as it was. No request is spent on it.
#pragma once

#include "kube/outcome.h"
#include "rollout/run.h"

namespace fairlead::rollout {

// Where the object was read before the run, its versions tell. Otherwise the entry of our field manager does, whose
// time the API server sets only when the apply changes something; it counts where the object was last written before
// this run, or where it is older than clocks differ.
Record::Stored effect_of(const Run& run, uint32_t node, const kube::Reply& reply);

// Versions of the API server are numbers that grow; one that is none counts as old.
uint64_t version_number(const Json& object);

}  // namespace fairlead::rollout
