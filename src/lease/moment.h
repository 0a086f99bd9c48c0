// A moment on both clocks of a process.
//
// The monotonic clock stands still while a machine is suspended, and the wall clock can be set back. To be sure that
// less than some time has passed since a moment, both must say so.
#pragma once

#include "base/clock.h"

namespace fairlead::lease {

struct Moment {
  TimePoint steady{};
  WallTime wall{};

  static Moment now(const Clock& clock) { return {clock.now(), clock.wall_now()}; }
  // True if certainly less than `time` has passed since then.
  bool is_within(const Clock& clock, Duration time) const {
    return clock.now() < steady + time && clock.wall_now() < wall + time;
  }
};

}  // namespace fairlead::lease
