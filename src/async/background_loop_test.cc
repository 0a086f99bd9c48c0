#include "async/background_loop.h"

#include <gtest/gtest.h>

#include <csignal>

#include "async/scope.h"

namespace fairlead {
namespace {

using namespace std::literals;

TEST(BackgroundLoop, WorkIsDoneThereAndItsResultComesBack) {
  RealLoop here;
  std::unique_ptr<BackgroundLoop> there = BackgroundLoop::start();
  std::thread::id worked, went_on;
  auto work = [&]() -> Task<std::string> {
    (void)co_await sleep_for(there->loop(), 1ms);
    worked = std::this_thread::get_id();
    co_return "done";
  };
  auto ask = [&]() -> Task<std::string> {
    std::string result = co_await result_on(here, there->loop(), work);
    went_on = std::this_thread::get_id();
    co_return result;
  };
  EXPECT_EQ(here.run(ask()), "done");
  EXPECT_EQ(went_on, std::this_thread::get_id());
  EXPECT_NE(worked, std::this_thread::get_id());
}

TEST(BackgroundLoop, TheTwoLoopsMayBeTheSame) {
  RealLoop here;
  EXPECT_EQ(here.run(result_on(here, here, []() -> Task<int> { co_return 7; })), 7);
}

TEST(BackgroundLoop, CancellingWhoeverWaitsCancelsTheWork) {
  RealLoop here;
  std::unique_ptr<BackgroundLoop> there = BackgroundLoop::start();
  Signal never(there->loop());
  auto work = [&]() -> Task<Result<void>> { co_return co_await never.wait(); };
  auto ask = [&]() -> Task<Result<void>> {
    co_return co_await with_deadline(here, here.now() + 1ms, "late", result_on(here, there->loop(), work));
  };
  EXPECT_EQ(here.run(ask()).error().kind(), ErrorKind::timeout);
}

// Cancelled before, after, and while it ends: nothing may be touched that is gone.
TEST(BackgroundLoop, WorkMayEndWhileItIsCancelled) {
  RealLoop here;
  std::unique_ptr<BackgroundLoop> there = BackgroundLoop::start();
  int ended = 0;
  for (int i = 0; i < 200; ++i) {
    CancelSource cancel;
    if (i % 3 == 0) cancel.cancel();
    here.post([&] { cancel.cancel(); });
    auto work = [&]() -> Task<void> {
      if (i % 2 == 0) (void)co_await sleep_for(there->loop(), 0ms);
      ++ended;
    };
    here.run(run_on(here, there->loop(), work).governed_by(&cancel));
  }
  EXPECT_EQ(ended, 200);
}

TEST(BackgroundLoop, ItsThreadGetsNoSignals) {
  RealLoop here;
  std::unique_ptr<BackgroundLoop> there = BackgroundLoop::start();
  auto blocked = [](int signal) {
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, nullptr, &set);
    return sigismember(&set, signal) == 1;
  };
  EXPECT_FALSE(blocked(SIGTERM));
  EXPECT_TRUE(here.run(result_on(here, there->loop(), [&]() -> Task<bool> { co_return blocked(SIGTERM); })));
}

}  // namespace
}  // namespace fairlead
