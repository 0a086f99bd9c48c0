// Ends a run early: when the user stops it, or when its time is over.
#pragma once

#include <optional>

#include "async/scope.h"

namespace fairlead {

// Waits end at once. Requests in flight that change something may still end by themselves, but only for the landing
// time, since a server may not answer.
class Halt {
 public:
  Halt(Loop& loop, Duration landing_time) : loop_(loop), landing_time_(landing_time) {}

  // The user stopped the run.
  void interrupt();
  // The time limit of the run has passed.
  void expire();
  bool interrupted() const { return interrupted_; }
  bool out_of_time() const { return out_of_time_; }

  // Ends the waits of a run in which everything is settled.
  void end_waits();

  // Governs every wait, but no request that changes something.
  CancelSource& waits() { return waits_; }
  // Governs requests that change something. It is cancelled some time after the waits were.
  CancelSource& requests() { return requests_; }

 private:
  void land();

  Loop& loop_;
  Duration landing_time_;
  CancelSource waits_;
  CancelSource requests_;
  std::optional<CancelAt> landed_;
  bool interrupted_ = false;
  bool out_of_time_ = false;
};

}  // namespace fairlead
