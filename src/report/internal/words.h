// Small texts that several reports need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace fairlead::report {

// "1,990"
std::string with_commas(uint64_t number);
// "ConfigMaps", "Ingresses", "NetworkPolicies"
std::string plural(std::string_view kind);
// "1 ConfigMap", "1,990 ConfigMaps"
std::string counted(uint64_t count, std::string_view kind);
// "0.4s", "12s", "3m05s": short, and never narrower for a moment only because a digit is zero.
std::string clock_text(Duration duration);

}  // namespace fairlead::report
