// How long to wait for an object of a kind where nobody has said so: what people are used to from other tools.
#pragma once

#include <chrono>
#include <string_view>

namespace fairlead::readiness {

struct Timeouts {
  std::chrono::seconds ready;
  std::chrono::seconds deletion;
  bool operator==(const Timeouts&) const = default;
};
// The group is "" for the core group.
Timeouts default_timeouts(std::string_view group, std::string_view kind);

}  // namespace fairlead::readiness
