// SHA-256.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::inventory {

// Returns the 32 bytes of the digest.
std::string sha256(std::string_view text);

}  // namespace fairlead::inventory
