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
  Sender(kube::Client& client, Run& run, StuckMonitor& stuck_monitor, Scope& scope)
      : client_(client), run_(run), stuck_monitor_(stuck_monitor), scope_(scope) {}

  // Deletes the targets. Requires that everything that has to be deleted before them is deleted. Objects of one
  // namespace are sent together, so that the namespace can be deleted while the contents of others are still being
  // deleted.
  void send(std::vector<NodeId> targets);

 private:
  void begin(NodeId target);
  void enqueue(NodeId target);
  // Sends as many requests as may be in flight.
  void fill();
  Task<void> remove(NodeId target);
  // Takes in the answer to a DELETE. Returns true if the request should be repeated.
  bool is_to_repeat(NodeId target, const kube::Outcome<kube::Reply>& outcome);
  void would_go(NodeId target);
  void told(NodeId target, std::string text);

  kube::Client& client_;
  Run& run_;
  StuckMonitor& stuck_monitor_;
  Scope& scope_;
  std::deque<NodeId> queue_;
  size_t under_way_ = 0;
  // The pause before the next attempt, for each target whose DELETE was not accepted.
  std::unordered_map<NodeId, Backoff> pauses_;
};

}  // namespace fairlead::removal
