#include "async/loop.h"

#include <cstdio>
#include <cstdlib>

#include "async/internal/detached.h"

namespace fairlead {

Loop::TimerId Loop::call_at(TimePoint time, Callback callback) {
  TimerId id{time, next_timer_++};
  auto inserted = timers_.emplace(id, std::move(callback)).first;
  if (inserted == timers_.begin()) timers_changed();
  return id;
}

void Loop::cancel_timer(TimerId id) {
  auto timer = timers_.find(id);
  if (timer == timers_.end()) return;
  bool first = timer == timers_.begin();
  timers_.erase(timer);
  if (first) timers_changed();
}

void Loop::fire_due_timers() {
  while (has_timers() && first_timer() <= now()) {
    Callback callback = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    callback();
  }
}

void Loop::drive(Task<void> task) {
  bool done = false;
  start_detached(*this, std::move(task), nullptr, [&done] { done = true; });
  run_until(done);
}

void VirtualLoop::run_until(const bool& done) {
  while (!done) {
    if (!ready_.empty()) {
      Callback callback = std::move(ready_.front());
      ready_.pop_front();
      callback();
    } else if (has_timers()) {
      clock_.advance_to(first_timer());
      fire_due_timers();
    } else {
      std::fputs("fairlead: internal error: everything waits, and nothing is left that could happen\n", stderr);
      std::abort();
    }
  }
}

}  // namespace fairlead
