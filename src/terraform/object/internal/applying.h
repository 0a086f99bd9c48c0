// Creates, updates and deletes an object.
#pragma once

#include <map>
#include <string>

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

// The objects that this process has created, so that no two resources get the same. True while the request runs.
using CreatedObjects = std::map<std::string, bool>;

Task<ApplyResponse> apply_object(Context& context, CreatedObjects& created, ApplyRequest request);

}  // namespace fairlead::terraform
