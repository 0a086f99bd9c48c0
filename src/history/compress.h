// gzip, for texts that are kept in the cluster.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace fairlead::history {

std::string compress(std::string_view text);

// Fails if this is not gzip, is cut short, or would have more than `max` bytes.
Result<std::string> uncompress(std::string_view compressed, size_t max);

}  // namespace fairlead::history
