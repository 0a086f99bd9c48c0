// Plans a create, an update or a replacement of an object.
#pragma once

#include "terraform/object/internal/live_objects.h"
#include "terraform/objects/stored_states.h"
#include "terraform/provider/resource.h"

namespace fairlead::terraform {

Task<PlanResponse> plan_object(Context& context, LiveObjects& live_objects, const StoredStates& stored_states,
                               PlanRequest request);

}  // namespace fairlead::terraform
