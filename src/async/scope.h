// Structured concurrency: a Scope holds tasks that run side by side and waits for all of them.
//
//   Scope scope(loop, co_await current_cancel());
//   scope.spawn(watch(...));
//   scope.spawn(send(...));
//   scope.cancel();              // optional: ask them to stop
//   co_await scope.join();       // always: before the scope is destroyed
#pragma once

#include <optional>

#include "async/loop.h"
#include "async/signal.h"
#include "async/task.h"

namespace fairlead {

class Scope {
 public:
  Scope(Loop& loop, CancelSource* parent) : loop_(loop), cancel_(parent), ended_(loop) {}
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  void spawn(Task<void> task);
  void cancel() { cancel_.cancel(); }
  bool cancelled() const { return cancel_.cancelled(); }
  size_t running() const { return running_; }

  // Waits for every task, those included that are spawned meanwhile. Not cut short by cancellation: the tasks are.
  Task<void> join();

 private:
  Loop& loop_;
  CancelSource cancel_;
  Signal ended_;
  size_t running_ = 0;
};

// Waits; cancelled_error() if it was cancelled first.
Task<Result<void>> sleep_until(Loop& loop, TimePoint time);
Task<Result<void>> sleep_for(Loop& loop, Duration delay);

// Cancels a source at a time, if it is still there then; TimePoint::max() for never.
class CancelAt {
 public:
  CancelAt(Loop& loop, TimePoint time, CancelSource& source);
  ~CancelAt();
  CancelAt(const CancelAt&) = delete;
  CancelAt& operator=(const CancelAt&) = delete;

  bool fired() const { return fired_; }

 private:
  Loop& loop_;
  std::optional<Loop::TimerId> timer_;
  bool fired_ = false;
};

// Runs the task; when the time is over it is cancelled and, once it has ended, the error is a timeout that says `what`.
template <class T>
Task<Result<T>> with_deadline(Loop& loop, TimePoint deadline, std::string what, Task<Result<T>> task) {
  CancelSource cancel(co_await current_cancel());
  CancelAt timer(loop, deadline, cancel);
  Result<T> result = co_await std::move(task).governed_by(&cancel);
  if (timer.fired() && !result && result.error().kind() == ErrorKind::cancelled)
    co_return fail(Error(ErrorKind::timeout, std::move(what)));
  co_return result;
}

}  // namespace fairlead
