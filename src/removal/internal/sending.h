// Sends one DELETE per object, and repeats it while the API server does not accept it.
//
// A limited number of requests is in flight at once; the other objects wait in a queue. Namespaces go to its head,
// because their controller waits for seconds before it begins to delete their contents.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "async/scope.h"
#include "removal/internal/stuck_monitor.h"
#include "removal/run.h"

namespace fairlead::removal {

class Sender {
 public:
  // The requests run in `scope`, which its owner joins.
  Sender(Run& run, StuckMonitor& stuck_monitor, Scope& scope)
      : run_(run), stuck_monitor_(stuck_monitor), scope_(scope) {}

  // Deletes the targets. Requires that everything that has to be deleted before them is deleted. Objects of one
  // namespace are sent together, so that the namespace can be deleted while the contents of others are still being
  // deleted.
  void send(std::vector<uint32_t> targets);

 private:
  void begin(uint32_t target);
  void enqueue(uint32_t target);
  // Sends as many requests as may be in flight.
  void fill();
  Task<void> remove(uint32_t target);
  // Takes in the answer to a DELETE. Returns true if the request should be repeated.
  bool is_to_repeat(uint32_t target, const kube::Outcome<kube::Reply>& outcome);
  void would_go(uint32_t target);
  void told(uint32_t target, std::string text);

  Run& run_;
  StuckMonitor& stuck_monitor_;
  Scope& scope_;
  std::deque<uint32_t> queue_;
  size_t under_way_ = 0;
  // The pause before the next attempt, for each target whose DELETE was not accepted.
  std::unordered_map<uint32_t, Backoff> pauses_;
};

}  // namespace fairlead::removal
