#include "async/background_loop.h"

#include <csignal>
#include <system_error>

#include "async/internal/detached.h"

namespace fairlead {

std::optional<std::thread> start_thread(std::move_only_function<void()> work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::optional<std::thread> thread;
  try {
    thread.emplace(std::move(work));
  } catch (const std::system_error&) {
    // The caller goes on without it.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

std::unique_ptr<BackgroundLoop> BackgroundLoop::start() {
  std::unique_ptr<BackgroundLoop> started(new BackgroundLoop);
  std::optional<std::thread> thread = start_thread([loop = started.get()] { loop->loop_.run(loop->until_ended()); });
  if (!thread) return nullptr;
  started->thread_ = *std::move(thread);
  return started;
}

BackgroundLoop::~BackgroundLoop() {
  if (!thread_.joinable()) return;
  loop_.post([this] {
    ended_ = true;
    changed_.notify_all();
  });
  thread_.join();
}

Task<void> BackgroundLoop::until_ended() {
  while (!ended_) (void)co_await changed_.wait();
}

Task<void> run_on(RealLoop& here, RealLoop& there, std::move_only_function<Task<void>()> work) {
  if (&here == &there) {
    co_await work();
    co_return;
  }
  // Cancelled on the other loop alone, and perhaps when the task has ended already.
  auto cancel = std::make_shared<CancelSource>();
  co_await await_callback<bool>(
      [&](auto done) {
        there.post([&, cancel, done] {
          start_detached(there, work(), cancel.get(), [&here, done] { here.post([done]() mutable { done(true); }); });
        });
      },
      [&there, cancel] { there.post([cancel] { cancel->cancel(); }); });
}

}  // namespace fairlead
