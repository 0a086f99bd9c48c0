// Plans a bundle by a rehearsal of its rollout.
#pragma once

#include "terraform/objects/stored_states.h"
#include "terraform/provider/resource.h"

namespace fairlead::terraform {

Task<PlanResponse> plan_bundle(Context& context, const StoredStates& stored_states, PlanRequest request);

}  // namespace fairlead::terraform
