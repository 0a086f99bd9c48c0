// Plans a patch by a dry run.
#pragma once

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

Task<PlanResponse> plan_patch(Context& context, PlanRequest request);

}  // namespace fairlead::terraform
