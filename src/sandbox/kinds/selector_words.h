// What the API server says about a label selector that it cannot read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::sandbox {

// Nothing if it would read it.
std::optional<std::string> selector_flaw(std::string_view text);

}  // namespace fairlead::sandbox
