// The conditions in the status of an object.
#pragma once

#include <string_view>

#include "base/json.h"

namespace fairlead::object {

// Returns the entry of status.conditions with this type, or JSON null if there is none.
const Json& condition(const Json& object, std::string_view type);

// `condition` may be JSON null, which has no status.
bool has_status(const Json& condition, std::string_view status);

}  // namespace fairlead::object
