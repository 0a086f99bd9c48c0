#include "async/scope.h"

#include <cstdio>
#include <cstdlib>

#include "async/internal/detached.h"

namespace fairlead {

Scope::~Scope() {
  if (running_ == 0) return;
  std::fputs("fairlead: internal error: a scope was left with tasks still running\n", stderr);
  std::abort();
}

void Scope::spawn(Task<void> task) {
  ++running_;
  start_detached(loop_, std::move(task), &cancel_, [this] {
    if (--running_ == 0) ended_.notify_all();
  });
}

Task<void> Scope::join() {
  while (running_ > 0) (void)co_await ended_.wait_uncancelled();
}

CancelAt::CancelAt(Loop& loop, TimePoint time, CancelSource& source) : loop_(loop) {
  if (time == TimePoint::max()) return;
  timer_ = loop.call_at(time, [this, &source] {
    fired_ = true;
    source.cancel();
  });
}

CancelAt::~CancelAt() {
  if (timer_) loop_.cancel_timer(*timer_);
}

Task<Result<void>> sleep_until(Loop& loop, TimePoint time) {
  Signal woken(loop);
  bool due = false;
  Loop::TimerId timer = loop.call_at(time, [&] {
    due = true;
    woken.notify_all();
  });
  Result<void> result = co_await woken.wait();
  loop.cancel_timer(timer);
  if (due) co_return Result<void>();
  co_return result;
}

Task<Result<void>> sleep_for(Loop& loop, Duration delay) { return sleep_until(loop, loop.now() + delay); }

}  // namespace fairlead
