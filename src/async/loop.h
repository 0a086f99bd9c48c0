// The loop that everything runs on: one thread, callbacks, timers, tasks.
//
// RealLoop (real_loop.h) waits for sockets and the real clock; VirtualLoop has no sockets and moves its clock to the
// next timer whenever nothing else is left to do, so hours pass in microseconds and every run is the same.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "async/task.h"
#include "base/clock.h"

namespace fairlead {

class Loop {
 public:
  using Callback = std::move_only_function<void()>;
  using TimerId = std::pair<TimePoint, uint64_t>;

  virtual ~Loop() = default;

  virtual const Clock& clock() const = 0;
  TimePoint now() const { return clock().now(); }

  // Runs the callback soon, never from within this call; callbacks run in the order in which they were posted.
  virtual void post(Callback callback) = 0;

  TimerId call_at(TimePoint time, Callback callback);
  TimerId call_after(Duration delay, Callback callback) { return call_at(now() + delay, std::move(callback)); }
  // Does nothing for a timer that has fired.
  void cancel_timer(TimerId id);

  // Runs the loop until the task is done. What other scopes have going on moves along meanwhile.
  template <class T>
  T run(Task<T> task) {
    std::optional<T> result;
    drive(store(std::move(task), result));
    return std::move(*result);
  }
  void run(Task<void> task) { drive(std::move(task)); }

 protected:
  // Runs until `done`; has nothing left to do before that: an error of ours, ends the process.
  virtual void run_until(const bool& done) = 0;
  // The first timer's time has changed.
  virtual void timers_changed() {}

  bool has_timers() const { return !timers_.empty(); }
  TimePoint first_timer() const { return timers_.begin()->first.first; }
  void fire_due_timers();

 private:
  template <class T>
  static Task<void> store(Task<T> task, std::optional<T>& result) {
    result.emplace(co_await std::move(task));
  }
  void drive(Task<void> task);

  std::map<TimerId, Callback> timers_;
  uint64_t next_timer_ = 0;
};

class VirtualLoop final : public Loop {
 public:
  const Clock& clock() const override { return clock_; }
  void post(Callback callback) override { ready_.push_back(std::move(callback)); }

 private:
  void run_until(const bool& done) override;

  VirtualClock clock_;
  std::deque<Callback> ready_;
};

}  // namespace fairlead
