// Loops on threads of their own, and work that is handed from one loop to another.
//
// Everything that lives on a loop belongs to the thread that runs it. Other threads only post() to the loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "async/real_loop.h"
#include "async/signal.h"

namespace fairlead {

// Starts a thread that gets no signals: those are for the thread that runs the program's loop. Returns nothing if there
// can be no further thread.
std::optional<std::thread> start_thread(std::move_only_function<void()> work);

// A loop with a thread that runs it until this is destroyed. Whatever was started on the loop must have ended by then.
class BackgroundLoop {
 public:
  // Returns null if there can be no further thread.
  static std::unique_ptr<BackgroundLoop> start();
  ~BackgroundLoop();
  BackgroundLoop(const BackgroundLoop&) = delete;
  BackgroundLoop& operator=(const BackgroundLoop&) = delete;

  RealLoop& loop() { return loop_; }

 private:
  BackgroundLoop() = default;
  Task<void> until_ended();

  RealLoop loop_;
  Signal changed_{loop_};
  bool ended_ = false;
  std::thread thread_;
};

// Runs the task that `work` returns on the loop `there`, and waits on the loop `here`, which is the caller's, until it
// has ended. Cancelling the caller cancels the task. Both loops must run until then; they may be the same.
Task<void> run_on(RealLoop& here, RealLoop& there, std::move_only_function<Task<void>()> work);

// The same for a task with a result: `Result<List> list = co_await run_on(here, there, [&] { return read(); });`
template <class Make>
std::invoke_result_t<Make&> result_on(RealLoop& here, RealLoop& there, Make make) {
  if (&here == &there) co_return co_await make();
  using Value = decltype(std::declval<std::invoke_result_t<Make&>>().operator co_await().await_resume());
  std::optional<Value> value;
  auto work = [&]() -> Task<void> { value.emplace(co_await make()); };
  co_await run_on(here, there, work);
  co_return std::move(*value);
}

}  // namespace fairlead
