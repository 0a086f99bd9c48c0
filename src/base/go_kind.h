// Names kinds of JSON values as Go's JSON decoder does, whose messages the API server passes on.
#pragma once

#include <string_view>

#include "base/json.h"

namespace fairlead {

// Returns "string", "number", "bool", "array", "object" or "null".
std::string_view go_kind(const Json& value);

}  // namespace fairlead
