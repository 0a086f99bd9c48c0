// What a controller has to look at, and when: each key at most once at a time, however often it was noted.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "async/scope.h"
#include "sandbox/core/store.h"

namespace fairlead::sandbox {

class WorkQueue {
 public:
  using Work = std::function<Task<void>(Place)>;

  // The work runs in the scope, which has to be joined before the queue is destroyed.
  WorkQueue(Loop& loop, Scope& scope, Work work) : loop_(loop), scope_(scope), work_(std::move(work)) {}
  ~WorkQueue() { clear(); }
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Looks at it after that time, or earlier if it was noted for earlier.
  void add(const Place& key, Duration after);
  void clear();

 private:
  Task<void> run(Place key);

  Loop& loop_;
  Scope& scope_;
  Work work_;
  std::map<Place, Loop::TimerId> waiting_;
  std::set<Place> running_;
  // Noted while it was being looked at.
  std::map<Place, Duration> again_;
};

}  // namespace fairlead::sandbox
