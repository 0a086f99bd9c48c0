#include "async/internal/detached.h"

namespace fairlead {
namespace {

struct Detached {
  struct promise_type : PromiseBase {
    Detached get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
  };
  std::coroutine_handle<promise_type> handle;
};

Detached run(Task<void> task, Loop::Callback done) {
  {
    Task<void> running = std::move(task);
    co_await std::move(running);
  }
  done();
}

}  // namespace

void start_detached(Loop& loop, Task<void> task, CancelSource* cancel, Loop::Callback done) {
  Detached detached = run(std::move(task), std::move(done));
  detached.handle.promise().cancel = cancel;
  loop.post([handle = detached.handle] { handle.resume(); });
}

}  // namespace fairlead
