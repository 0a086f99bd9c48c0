// Identifies the content of an object by a short text.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::diff {

// Returns a SHA-256 digest of what people see of the object (visible()), in hexadecimal. Two objects have the same
// digest only if they differ in nothing but the order of members. With another key, all digests are others. The digest
// of null is "none".
std::string digest_of(const Json& object, std::string_view key);

}  // namespace fairlead::diff
