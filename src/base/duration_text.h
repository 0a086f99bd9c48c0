// Durations as people write them.
#pragma once

#include <string>

#include "base/clock.h"

namespace fairlead {

// "250ms", "30s", "1h30m"
std::string short_text(Duration duration);

}  // namespace fairlead
