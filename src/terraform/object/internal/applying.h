// Creates, updates and deletes an object.
#pragma once

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

Task<ApplyResponse> apply_object(Context& context, ApplyRequest request);

}  // namespace fairlead::terraform
