#include "rollout/guards/retry_gate.h"

#include <gtest/gtest.h>

#include "async/scope.h"

namespace fairlead::rollout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Objects that are refused until a moment, all at one gate.
struct Crowd {
  VirtualLoop loop;
  RetryGate gate{loop};
  TimePoint works_at = TimePoint::max();
  // How long a try takes that begins before `hangs_until`.
  TimePoint hangs_until = TimePoint::min();
  Duration hangs_for = seconds(10);
  int tries = 0;
  int through = 0;

  Task<void> object() {
    RetryGate::Place place;
    while (true) {
      ++tries;
      if (loop.now() < hangs_until && tries > 2 && !co_await sleep_for(loop, hangs_for)) co_return;
      if (loop.now() >= works_at) break;
      if (!co_await place.wait(gate)) co_return;
    }
    ++through;
    place.passed();
  }
  Task<void> run(int objects, Duration limit) {
    CancelSource cancel;
    Loop::TimerId timer = loop.call_at(loop.now() + limit, [&] { cancel.cancel(); });
    Scope scope(loop, &cancel);
    for (int i = 0; i < objects; ++i) scope.spawn(object());
    co_await scope.join();
    loop.cancel_timer(timer);
  }
};

TEST(RetryGate, OneScoutForAThousandObjects) {
  Crowd crowd;
  crowd.works_at = crowd.loop.now() + seconds(3);
  crowd.loop.run(crowd.run(1000, seconds(60)));
  EXPECT_EQ(crowd.through, 1000);
  // Each object once before and once after, and the scout's tries in between.
  EXPECT_LT(crowd.tries, 2000 + 70);
  EXPECT_LT(crowd.loop.now() - crowd.works_at, milliseconds(200));
}

TEST(RetryGate, TenMinutesWithoutEvidenceAreFewTries) {
  Crowd crowd;
  crowd.loop.run(crowd.run(1, std::chrono::minutes(10)));
  EXPECT_EQ(crowd.through, 0);
  EXPECT_LT(crowd.tries, 200);
}

TEST(RetryGate, EvidenceSendsTheScoutAtOnce) {
  Crowd crowd;
  crowd.works_at = crowd.loop.now() + seconds(300);
  crowd.loop.call_at(crowd.works_at, [&] { crowd.gate.evidence_changed(true); });
  crowd.loop.run(crowd.run(5, std::chrono::minutes(10)));
  EXPECT_EQ(crowd.through, 5);
  EXPECT_EQ(crowd.loop.now(), crowd.works_at);
}

// A certificate is put in after the pod was Ready, and then it still does not listen.
TEST(RetryGate, EvidenceThatChangesAgainDoesNotBeginAllOver) {
  Crowd crowd;
  for (int i = 1; i <= 3; ++i) crowd.loop.call_after(i * seconds(1), [&] { crowd.gate.evidence_changed(true); });
  crowd.loop.run(crowd.run(5, seconds(4)));
  // Each of the five once before it comes to the gate.
  EXPECT_LT(crowd.tries, 5 + 60);
}

TEST(RetryGate, EvidenceSendsAnotherWhereTheScoutHangs) {
  Crowd crowd;
  crowd.works_at = crowd.hangs_until = crowd.loop.now() + seconds(2);
  crowd.loop.call_at(crowd.works_at, [&] { crowd.gate.evidence_changed(true); });
  crowd.loop.run(crowd.run(2, std::chrono::minutes(10)));
  EXPECT_EQ(crowd.through, 2);
  // One of both before the gate, the scout that hangs, the other one, and none once more for the one that came through.
  EXPECT_EQ(crowd.tries, 4);
}

TEST(RetryGate, EvidenceThatATryCannotWorkMakesAPauseLonger) {
  Crowd crowd;
  crowd.loop.call_after(milliseconds(10), [&] { crowd.gate.evidence_changed(false); });
  crowd.loop.run(crowd.run(1, milliseconds(900)));
  EXPECT_EQ(crowd.tries, 1);
}

TEST(RetryGate, UnlikelyTriesAreRare) {
  Crowd crowd;
  crowd.gate.evidence_changed(false);
  crowd.loop.run(crowd.run(1, seconds(10)));
  EXPECT_LE(crowd.tries, 11);
}

TEST(RetryGate, ACancelledScoutHandsOver) {
  Crowd crowd;
  CancelSource first;
  crowd.works_at = crowd.loop.now() + seconds(2);
  crowd.loop.call_at(crowd.loop.now() + seconds(1), [&] { first.cancel(); });
  crowd.loop.run([](Crowd& c, CancelSource& f) -> Task<void> {
    CancelSource none;
    Scope scope(c.loop, &none);
    scope.spawn([](Crowd& c2, CancelSource& f2) -> Task<void> { co_await c2.object().governed_by(&f2); }(c, f));
    scope.spawn(c.object());
    co_await scope.join();
  }(crowd, first));
  EXPECT_EQ(crowd.through, 1);
}

}  // namespace
}  // namespace fairlead::rollout
