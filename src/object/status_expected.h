// Whether a controller is expected to write a status into custom resources.
#pragma once

#include <string_view>

#include "base/json.h"

namespace fairlead::object {

// True if the CustomResourceDefinition has a status subresource in this version, with conditions in its schema.
bool expects_conditions(const Json& definition, std::string_view version);

}  // namespace fairlead::object
