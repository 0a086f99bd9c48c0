// The error about an object that exists already and is not this resource's.
#pragma once

#include "base/json.h"
#include "terraform/objects/reference.h"
#include "terraform/value/diagnostic.h"

namespace fairlead::terraform {

// `live` may be null. `cluster` is the attribute, and `connection` what the connection calls itself. The error has the
// `import` block to copy.
Diagnostics exists_already(const Json& live, const Value& cluster, std::string_view connection,
                           const Reference& reference);

// The error about an object that another resource of the same run creates.
Error created_twice(const Reference& reference);

}  // namespace fairlead::terraform
