// What the checks of certificates share.
#pragma once

#include "base/clock.h"

namespace fairlead::doctor {

// A certificate that ends earlier than this is reported. cert-manager and most other tools renew earlier.
inline constexpr Duration kExpiresSoon = std::chrono::hours(24 * 14);

}  // namespace fairlead::doctor
