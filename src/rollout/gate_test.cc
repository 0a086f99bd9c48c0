#include "rollout/gate.h"

#include <gtest/gtest.h>

#include "base/scope.h"

namespace fairlead::rollout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Objects that are refused until a moment, all at one gate.
struct Crowd {
  VirtualLoop loop;
  Gate gate{loop};
  TimePoint works_at = TimePoint::max();
  int tries = 0;
  int through = 0;

  Task<void> object() {
    Gate::Place place;
    while (true) {
      ++tries;
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

TEST(Gate, OneScoutForAThousandObjects) {
  Crowd crowd;
  crowd.works_at = crowd.loop.now() + seconds(3);
  crowd.loop.run(crowd.run(1000, seconds(60)));
  EXPECT_EQ(crowd.through, 1000);
  // Each object once before and once after, and the scout's tries in between.
  EXPECT_LT(crowd.tries, 2000 + 50);
  EXPECT_LT(crowd.loop.now() - crowd.works_at, milliseconds(200));
}

TEST(Gate, TenMinutesWithoutEvidenceAreFewTries) {
  Crowd crowd;
  crowd.loop.run(crowd.run(1, std::chrono::minutes(10)));
  EXPECT_EQ(crowd.through, 0);
  EXPECT_LT(crowd.tries, 180);
}

TEST(Gate, EvidenceSendsTheScoutAtOnce) {
  Crowd crowd;
  crowd.works_at = crowd.loop.now() + seconds(300);
  crowd.loop.call_at(crowd.works_at, [&] { crowd.gate.evidence_changed(true); });
  crowd.loop.run(crowd.run(5, std::chrono::minutes(10)));
  EXPECT_EQ(crowd.through, 5);
  EXPECT_EQ(crowd.loop.now(), crowd.works_at);
}

TEST(Gate, UnlikelyTriesAreRare) {
  Crowd crowd;
  crowd.gate.evidence_changed(false);
  crowd.loop.run(crowd.run(1, seconds(10)));
  EXPECT_LE(crowd.tries, 11);
}

TEST(Gate, ACancelledScoutHandsOver) {
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
