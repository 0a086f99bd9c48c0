// The pauses between tries: the first one, then twice as long each time, up to the longest.
#pragma once

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace fairlead {

class Backoff {
 public:
  constexpr Backoff(Duration first, Duration longest) : first_(first), longest_(longest), next_(first) {}

  // Returns the pause to make now.
  constexpr Duration next() { return std::exchange(next_, std::min(next_ * 2, longest_)); }
  // The pause that next() will return.
  constexpr Duration peek() const { return next_; }
  constexpr void reset() { next_ = first_; }

 private:
  Duration first_;
  Duration longest_;
  Duration next_;
};

}  // namespace fairlead
