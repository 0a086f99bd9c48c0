// Applies patches, and releases them.
#pragma once

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

Task<ApplyResponse> apply_patch(Context& context, ApplyRequest request);

}  // namespace fairlead::terraform
