// Time, as a thing that can be replaced.
//
// Everything that asks for the time, or waits for it, does so through a Clock or a Loop (loop.h). So a run can happen
// under a virtual clock, in no time at all.
#pragma once

#include <chrono>

namespace fairlead {

using Duration = std::chrono::nanoseconds;
// Never goes back; means nothing outside this process.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
// What a calendar shows: for certificates, tokens and reports.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
  virtual WallTime wall_now() const = 0;
};

class RealClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  WallTime wall_now() const override { return std::chrono::system_clock::now(); }
};

// Stands still until it is told to move.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(WallTime start = WallTime(std::chrono::sys_days(std::chrono::January / 1 / 2030)))
      : wall_(start) {}

  TimePoint now() const override { return now_; }
  WallTime wall_now() const override { return wall_; }
  void advance_to(TimePoint time) {
    if (time <= now_) return;
    wall_ += time - now_;
    now_ = time;
  }

 private:
  TimePoint now_{};
  WallTime wall_;
};

}  // namespace fairlead
