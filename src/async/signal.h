// The leaves of the tree of tasks: what really waits.
#pragma once

#include <coroutine>
#include <deque>
#include <list>
#include <optional>

#include "async/loop.h"
#include "async/task.h"

namespace fairlead {

// Wakes tasks. There is no memory: whoever waits for a condition checks it before, and again after each wake-up.
//   while (!ready) CO_TRY(co_await signal.wait());
class Signal {
 public:
  explicit Signal(Loop& loop) : loop_(&loop) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  // The waiters go on from the loop, in the order in which they came, never from within these calls.
  void notify_all();
  void notify_one();
  size_t waiting() const { return waiters_.size(); }

  class Waiter {
   public:
    Waiter(Signal& signal, bool cancellable) : signal_(&signal), cancellable_(cancellable) {}
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    bool await_ready() noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
      return suspend(self, cancellable_ ? self.promise().cancel : nullptr);
    }
    Result<void> await_resume();

   private:
    friend class Signal;
    bool suspend(std::coroutine_handle<> self, CancelSource* cancel);
    void wake();

    Signal* signal_;
    bool cancellable_;
    bool was_cancelled_ = false;
    std::coroutine_handle<> self_;
    CancelHook hook_;
    std::optional<std::list<Waiter*>::iterator> place_;
  };

  // cancelled_error() if the waiting task was cancelled.
  Waiter wait() { return Waiter(*this, true); }
  // For clean-up that has to happen even in a cancelled task.
  Waiter wait_uncancelled() { return Waiter(*this, false); }

 private:
  Loop* loop_;
  std::list<Waiter*> waiters_;
};

// A callback API as something to await: `start` is called with a function that ends the wait with a value, from the
// loop and once. `stop` is called when the task is cancelled; it must make that function be called soon.
//   size_t n = co_await await_callback<size_t>([&](auto done) { socket.async_read(..., done); }, [&] { socket.cancel();
//   });
template <class T, class Start, class Stop>
class CallbackAwaiter {
 public:
  CallbackAwaiter(Start start, Stop stop) : start_(std::move(start)), stop_(std::move(stop)) {}
  CallbackAwaiter(const CallbackAwaiter&) = delete;
  CallbackAwaiter& operator=(const CallbackAwaiter&) = delete;
  bool await_ready() noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) {
    CancelSource* cancel = self.promise().cancel;
    bool stop_at_once = cancel && cancel->cancelled();
    if (!stop_at_once) hook_.set(cancel, [this] { stop_(); });
    start_([this, self](T value) {
      value_.emplace(std::move(value));
      hook_.clear();
      self.resume();
    });
    if (stop_at_once) stop_();
  }
  T await_resume() { return std::move(*value_); }

 private:
  Start start_;
  Stop stop_;
  CancelHook hook_;
  std::optional<T> value_;
};

template <class T, class Start, class Stop>
CallbackAwaiter<T, Start, Stop> await_callback(Start start, Stop stop) {
  return {std::move(start), std::move(stop)};
}

// Values from many tasks to one, in order; unbounded, so the sender never waits.
template <class T>
class Channel {
 public:
  explicit Channel(Loop& loop) : changed_(loop) {}

  void send(T value) {
    if (closed_) return;
    values_.push_back(std::move(value));
    changed_.notify_one();
  }
  // No further values; those that are there can still be received.
  void close() {
    closed_ = true;
    changed_.notify_all();
  }
  bool empty() const { return values_.empty(); }

  // Nothing once the channel is closed and empty.
  Task<Result<std::optional<T>>> receive() {
    while (values_.empty() && !closed_) CO_TRY(co_await changed_.wait());
    if (values_.empty()) co_return std::nullopt;
    T value = std::move(values_.front());
    values_.pop_front();
    co_return std::optional<T>(std::move(value));
  }

 private:
  Signal changed_;
  std::deque<T> values_;
  bool closed_ = false;
};

}  // namespace fairlead
