// Tells objects to go: one DELETE each, repeated while the API server does not take it.
//
// So many are under way at once; the others wait in a queue. Namespaces go to its head: their controller lets each one
// rest for seconds before it does anything.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "base/scope.h"
#include "removal/run.h"
#include "removal/stuck_monitor.h"

namespace fairlead::removal {

class Sender {
 public:
  // `scope` holds the requests, and is joined by its owner.
  Sender(Run& run, StuckMonitor& stuck_monitor, Scope& scope)
      : run_(run), stuck_monitor_(stuck_monitor), scope_(scope) {}

  // Nothing stands before them any more. What is in one namespace goes together, so that the namespace can go while
  // the contents of others still do.
  void send(std::vector<uint32_t> targets);

 private:
  void begin(uint32_t target);
  void enqueue(uint32_t target);
  // Sends as many as may be under way.
  void fill();
  Task<void> remove(uint32_t target);
  // Takes in the answer to a DELETE; true if it is worth sending once more.
  bool is_to_repeat(uint32_t target, const kube::Outcome<kube::Reply>& outcome);
  void would_go(uint32_t target);
  void told(uint32_t target, std::string text);

  Run& run_;
  StuckMonitor& stuck_monitor_;
  Scope& scope_;
  std::deque<uint32_t> queue_;
  size_t under_way_ = 0;
  // How long to wait before the next attempt, of those that were not taken.
  std::unordered_map<uint32_t, Duration> pauses_;
};

}  // namespace fairlead::removal
