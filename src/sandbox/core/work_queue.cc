#include "sandbox/core/work_queue.h"

#include <algorithm>

namespace fairlead::sandbox {

void WorkQueue::add(const Place& key, Duration after) {
  if (running_.contains(key)) {
    auto [entry, is_new] = again_.try_emplace(key, after);
    if (!is_new) entry->second = std::min(entry->second, after);
    return;
  }
  TimePoint due = loop_.now() + after;
  auto waiting = waiting_.find(key);
  if (waiting != waiting_.end()) {
    if (waiting->second.first <= due) return;
    loop_.cancel_timer(waiting->second);
  }
  waiting_[key] = loop_.call_at(due, [this, key] {
    waiting_.erase(key);
    running_.insert(key);
    scope_.spawn(run(key));
  });
}

Task<void> WorkQueue::run(Place key) {
  co_await work_(key);
  running_.erase(key);
  auto again = again_.find(key);
  if (again == again_.end() || scope_.cancelled()) co_return;
  Duration after = again->second;
  again_.erase(again);
  add(key, after);
}

void WorkQueue::clear() {
  for (const auto& [key, timer] : waiting_) loop_.cancel_timer(timer);
  waiting_.clear();
  again_.clear();
}

}  // namespace fairlead::sandbox
