#include "async/task.h"

#include <gtest/gtest.h>

#include "async/real_loop.h"
#include "async/scope.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

Task<int> answer() { co_return 42; }
Task<int> twice() { co_return 2 * co_await answer(); }

TEST(Task, ReturnsWhatItAwaited) {
  VirtualLoop loop;
  EXPECT_EQ(loop.run(twice()), 84);
}

Task<void> count(Loop& loop, std::string name, Duration step, int times, std::vector<std::string>& log) {
  for (int i = 0; i < times; ++i) {
    if (!co_await sleep_for(loop, step)) {
      log.push_back(name + " cancelled");
      co_return;
    }
    log.push_back(fmt::format("{} at {}ms", name, loop.now().time_since_epoch() / 1ms));
  }
}

TEST(Scope, RunsTasksSideBySideInTheOrderOfTime) {
  VirtualLoop loop;
  std::vector<std::string> log;
  auto body = [](Loop& on, std::vector<std::string>& to) -> Task<void> {
    Scope scope(on, co_await current_cancel());
    scope.spawn(count(on, "slow", 50ms, 2, to));
    scope.spawn(count(on, "fast", 20ms, 3, to));
    co_await scope.join();
  };
  loop.run(body(loop, log));
  EXPECT_EQ(
      log, (std::vector<std::string>{"fast at 20ms", "fast at 40ms", "slow at 50ms", "fast at 60ms", "slow at 100ms"}));
}

TEST(Scope, CancelReachesWhatWaits) {
  VirtualLoop loop;
  std::vector<std::string> log;
  auto body = [](Loop& on, std::vector<std::string>& to) -> Task<void> {
    Scope scope(on, co_await current_cancel());
    scope.spawn(count(on, "a", 1h, 1, to));
    (void)co_await sleep_for(on, 1s);
    scope.cancel();
    co_await scope.join();
  };
  loop.run(body(loop, log));
  EXPECT_EQ(log, (std::vector<std::string>{"a cancelled"}));
  EXPECT_EQ(loop.now().time_since_epoch(), 1s);
}

Task<Result<int>> slow_answer(Loop& loop, Duration delay) {
  CO_TRY(co_await sleep_for(loop, delay));
  co_return 42;
}

TEST(Deadline, EndsWhatTakesTooLong) {
  VirtualLoop loop;
  Result<int> late = loop.run(with_deadline(loop, loop.now() + 1s, "no answer within 1s", slow_answer(loop, 1h)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind(), ErrorKind::timeout);
  EXPECT_EQ(late.error().message(), "no answer within 1s");
  EXPECT_EQ(loop.run(with_deadline(loop, loop.now() + 1s, "late", slow_answer(loop, 1ms))).value(), 42);
}

TEST(Deadline, NestedOnesKeepTheirOwnWords) {
  VirtualLoop loop;
  auto inner = with_deadline(loop, loop.now() + 1h, "inner", slow_answer(loop, 2h));
  EXPECT_EQ(loop.run(with_deadline(loop, loop.now() + 1s, "outer", std::move(inner))).error().message(), "outer");
}

TEST(Deadline, EndsWhatNeverHasToWait) {
  VirtualLoop loop;
  CancelSource source;
  int turns = 0;
  auto busy = [&]() -> Task<Result<void>> {
    while (true) {
      CO_TRY(co_await go_on());
      if (++turns == 1000) source.cancel();
    }
  };
  EXPECT_EQ(loop.run(busy().governed_by(&source)).error().kind(), ErrorKind::cancelled);
  EXPECT_EQ(turns, 1000);
}

TEST(Task, UncancelledGoesOnInATaskThatIsCancelled) {
  VirtualLoop loop;
  CancelSource source;
  source.cancel();
  auto cleans_up = [&]() -> Task<Result<int>> {
    Result<int> cut_off = co_await slow_answer(loop, 1s);
    EXPECT_FALSE(cut_off);
    co_return co_await slow_answer(loop, 1s).uncancelled();
  };
  EXPECT_EQ(loop.run(cleans_up().governed_by(&source)).value(), 42);
}

TEST(Deadline, CanBeNever) {
  VirtualLoop loop;
  EXPECT_EQ(loop.run(with_deadline(loop, TimePoint::max(), "late", slow_answer(loop, 1h))).value(), 42);
}

TEST(Channel, DeliversInOrderAndThenCloses) {
  VirtualLoop loop;
  Channel<int> channel(loop);
  loop.call_after(1s, [&] { channel.send(1); });
  loop.call_after(2s, [&] {
    channel.send(2);
    channel.close();
  });
  EXPECT_EQ(loop.run(channel.receive()).value(), 1);
  EXPECT_EQ(loop.run(channel.receive()).value(), 2);
  EXPECT_EQ(loop.run(channel.receive()).value(), std::nullopt);
}

TEST(Cancel, AHookMayRemoveTheNextOne) {
  CancelSource source;
  CancelHook first, second;
  bool called = false;
  first.set(&source, [&] { second.clear(); });
  second.set(&source, [&] { called = true; });
  source.cancel();
  EXPECT_FALSE(called);
}

TEST(RealLoop, TimersFireInOrder) {
  RealLoop loop;
  std::string order;
  loop.call_after(2ms, [&] { order += "b"; });
  loop.call_after(1ms, [&] { order += "a"; });
  Loop::TimerId never = loop.call_after(3ms, [&] { order += "x"; });
  loop.cancel_timer(never);
  EXPECT_TRUE(loop.run(sleep_for(loop, 5ms)).has_value());
  EXPECT_EQ(order, "ab");
}

}  // namespace
}  // namespace fairlead
