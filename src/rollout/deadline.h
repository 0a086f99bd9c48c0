// When to give up waiting for something of the bundle.
//
// Usually that is some time after the wait began. What waits for a guard has longer: as long as the workloads behind
// the guard may still become ready, and its own time once they are.
#pragma once

#include <functional>
#include <vector>

#include "rollout/run.h"

namespace fairlead::rollout {

class Deadline {
 public:
  // The wait begins now, for the object or guard with that key. `workloads` are objects of the bundle that it waits for
  // without needing them. Calls `over` once, when the time is over; `over` may destroy the Deadline. The run must
  // outlive it.
  Deadline(const Run& run, const object::Key& key, std::vector<uint32_t> workloads, std::function<void()> over);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  bool passed() const { return passed_; }
  // Since the wait began.
  Duration waited() const { return run_.loop.now() - begun_; }

 private:
  TimePoint due() const;
  TimePoint due_after(uint32_t workload) const;
  void arm();

  const Run& run_;
  Duration limit_;
  std::vector<uint32_t> workloads_;
  std::function<void()> over_;
  TimePoint begun_;
  Loop::TimerId timer_{};
  bool passed_ = false;
};

// What stands behind the guards that the object meets when it is sent.
std::vector<uint32_t> workloads_before(const Run& run, uint32_t object);
// What stands behind the guards that its pods meet, and behind those that it registers itself.
std::vector<uint32_t> workloads_behind(const Run& run, uint32_t object);

}  // namespace fairlead::rollout
