// The conditions in an object's status.
#pragma once

#include <string_view>

#include "base/json.h"

namespace fairlead::sandbox {

// Null if it is not there.
const Json* find_condition(const Json& object, std::string_view type);
bool condition_is_true(const Json& object, std::string_view type);
// Replaces the one of that type, or adds it. The time of the last transition stays while the status does.
void set_condition(Json& object, Json condition);
void drop_condition(Json& object, std::string_view type);

}  // namespace fairlead::sandbox
