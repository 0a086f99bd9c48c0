// Rolls bundles out, and deletes them.
#pragma once

#include <set>
#include <string>

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

// Bundles that were half made, and whose "replacement" goes on in this process.
using HalfMade = std::set<std::string>;

Task<ApplyResponse> apply_bundle(Context& context, HalfMade& half_made, ApplyRequest request);

}  // namespace fairlead::terraform
