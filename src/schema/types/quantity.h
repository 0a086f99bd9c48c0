// Amounts of resources ("500m", "1Gi"), in the one form that the API server stores them in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::schema {

// "1000m" is "1", "0.5" is "500m", "1024Mi" is "1Gi". Nothing for what is no quantity, or too large to be rewritten
// safely. With `whole_milli`, what is finer than a thousandth is rounded up, as it is for resources of containers.
std::optional<std::string> canonical_quantity(std::string_view text, bool whole_milli = false);

}  // namespace fairlead::schema
