// Decides when to stop waiting for an object or guard of the bundle.
//
// Usually a wait has a fixed time limit. An object that waits for a guard gets more time: as long as the workloads
// behind the guard may still become ready, and its own time limit after that. A time limit that the user chose is not
// extended.
#pragma once

#include <functional>
#include <vector>

#include "rollout/core/run.h"

namespace fairlead::rollout {

class Deadline {
 public:
  // Begins the wait for the object or guard with that key. `workloads` are objects of the bundle that have to become
  // ready meanwhile, although the object does not need them. Calls `over` once, when the time is over; `over` may
  // destroy the Deadline. The run must outlive it.
  Deadline(const Run& run, const object::Key& key, std::vector<NodeId> workloads, std::function<void()> over);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  bool passed() const { return passed_; }
  // The time since the wait began.
  Duration waited() const { return run_.loop().now() - begun_; }

 private:
  TimePoint due() const;
  TimePoint due_after(NodeId workload) const;
  void arm();

  const Run& run_;
  Duration limit_;
  std::vector<NodeId> workloads_;
  std::function<void()> over_;
  TimePoint begun_;
  Loop::TimerId timer_{};
  bool passed_ = false;
};

// Returns the objects that back the guards by which the object itself is matched.
std::vector<NodeId> workloads_before(const Run& run, NodeId object);
// Returns the objects that back the guards by which the object's pods are matched, and the guards that it registers.
std::vector<NodeId> workloads_behind(const Run& run, NodeId object);

}  // namespace fairlead::rollout
