// How long to wait for objects of a kind if the user did not say so. The defaults are those that users know from other
// tools.
#pragma once

#include <chrono>
#include <string_view>

namespace fairlead::readiness {

struct Timeouts {
  std::chrono::seconds ready;
  std::chrono::seconds deletion;
  bool operator==(const Timeouts&) const = default;
};
// `group` is empty for the core group.
Timeouts default_timeouts(std::string_view group, std::string_view kind);

}  // namespace fairlead::readiness
