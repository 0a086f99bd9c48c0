// How long a run that was stopped, by Ctrl-C or by its timeout, may still take.
#pragma once

#include "base/clock.h"

namespace fairlead::plan {

// Requests that change something and are in flight may take this long to end.
inline constexpr Duration kLandingTime = std::chrono::seconds(5);
// All requests of a run end this long after its timeout: those in flight, and those that clean up.
inline constexpr Duration kClosingTime = std::chrono::seconds(10);

}  // namespace fairlead::plan
