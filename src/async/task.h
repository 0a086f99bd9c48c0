// Task<T>: a coroutine that starts when it is awaited and ends before whoever awaits it goes on.
//
// Own type rather than asio::awaitable, because it is small, keeps Asio out of every header, and runs unchanged on the
// virtual loop. Rules:
//  - a task is awaited exactly once, by another task, by Scope::spawn or by Loop::run; it never outlives that;
//  - a suspended task is never destroyed: it is cancelled (cancel.h) and then awaited;
//  - no exceptions: one that leaves a coroutine ends the process.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "async/cancel.h"
#include "base/error.h"

namespace fairlead {

// What every coroutine of ours has: who goes on when it ends, and who may cancel it.
struct PromiseBase {
  std::coroutine_handle<> continuation = std::noop_coroutine();
  CancelSource* cancel = nullptr;

  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept {
    struct Finish {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept { return next; }
      void await_resume() noexcept {}
      std::coroutine_handle<> next;
    };
    return Finish{continuation};
  }
  [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
};

template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type : PromiseBase {
    std::optional<T> value;
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    template <class U>
    void return_value(U&& result) {
      value.emplace(std::forward<U>(result));
    }
    T take() { return std::move(*value); }
  };

  Task(Task&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), governor_(other.governor_), inherits_(other.inherits_) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // Replaces the source that the task would inherit from whoever awaits it; null leaves that as it is.
  Task&& governed_by(CancelSource* source) && {
    governor_ = source;
    return std::move(*this);
  }
  // Nothing cancels the task, even if whoever awaits it is cancelled already: for clean-up that takes a limited time.
  Task&& uncancelled() && {
    inherits_ = false;
    return std::move(*this);
  }
  Task&& governed_by(std::nullptr_t) && = delete;

  struct Awaiter {
    std::coroutine_handle<promise_type> handle;
    CancelSource* governor;
    bool inherits;
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
      handle.promise().continuation = parent;
      handle.promise().cancel = governor || !inherits ? governor : parent.promise().cancel;
      return handle;
    }
    T await_resume() { return handle.promise().take(); }
  };
  Awaiter operator co_await() && noexcept { return Awaiter{handle_, governor_, inherits_}; }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
  CancelSource* governor_ = nullptr;
  bool inherits_ = true;
};

template <>
struct Task<void>::promise_type : PromiseBase {
  Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
  void return_void() {}
  void take() {}
};

// `CancelSource* source = co_await current_cancel();` Null where nothing can cancel this task.
struct current_cancel {
  CancelSource* source = nullptr;
  bool await_ready() noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    source = self.promise().cancel;
    return false;
  }
  CancelSource* await_resume() noexcept { return source; }
};

// `CO_TRY(co_await go_on());` cancelled_error() if this task was cancelled. For loops in which every value may be there
// already: what never really waits would never notice.
struct go_on {
  CancelSource* source = nullptr;
  bool await_ready() noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    source = self.promise().cancel;
    return false;
  }
  Result<void> await_resume() const;
};

inline Error cancelled_error() { return Error(ErrorKind::cancelled, "cancelled"); }

inline Result<void> go_on::await_resume() const {
  if (source && source->cancelled()) return fail(cancelled_error());
  return {};
}

}  // namespace fairlead
