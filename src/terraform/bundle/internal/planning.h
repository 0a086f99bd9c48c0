// Plans a bundle by a rehearsal of its rollout.
#pragma once

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

Task<PlanResponse> plan_bundle(Context& context, PlanRequest request);

}  // namespace fairlead::terraform
