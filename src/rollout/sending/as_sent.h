// The form in which an object is sent. Pure.
#pragma once

#include <string_view>

#include "object/object.h"

namespace fairlead::rollout {

// Returns the object as it is sent: with the bundle's label, and without fields that injectors or the API server own.
Json as_sent(const object::Object& object, std::string_view part_of);

}  // namespace fairlead::rollout
