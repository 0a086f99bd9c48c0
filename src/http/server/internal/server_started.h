// A task that runs at once, up to its first wait, before anybody awaits it: so that what needs no waiting costs no
// machinery for waiting. It is awaited before it is destroyed, like any task.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "async/task.h"

namespace fairlead::http {

template <class T>
class [[nodiscard]] Started {
 public:
  struct promise_type : PromiseBase {
    std::optional<T> value;
    Started get_return_object() { return Started(std::coroutine_handle<promise_type>::from_promise(*this)); }
    void return_value(T result) { value.emplace(std::move(result)); }
  };

  Started(Started&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Started& operator=(Started&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Started() {
    if (handle_) handle_.destroy();
  }

  bool done() const { return handle_.done(); }
  // Once it is done.
  const T& value() const { return *handle_.promise().value; }

  struct Awaiter {
    std::coroutine_handle<promise_type> handle;
    bool await_ready() noexcept { return handle.done(); }
    void await_suspend(std::coroutine_handle<> parent) noexcept { handle.promise().continuation = parent; }
    T await_resume() { return std::move(*handle.promise().value); }
  };
  Awaiter operator co_await() & noexcept { return Awaiter{handle_}; }

  static Started start(Task<T> task, CancelSource* cancel) {
    Started started = run(std::move(task));
    started.handle_.promise().cancel = cancel;
    started.handle_.resume();
    return started;
  }

 private:
  explicit Started(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  static Started run(Task<T> task) {
    Task<T> running = std::move(task);
    co_return co_await std::move(running);
  }

  std::coroutine_handle<promise_type> handle_;
};

}  // namespace fairlead::http
