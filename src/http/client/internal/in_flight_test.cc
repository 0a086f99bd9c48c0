#include "http/client/internal/in_flight.h"

#include <gtest/gtest.h>

#include <deque>

#include "async/scope.h"
#include "async/signal.h"

namespace fairlead::http {
namespace {

using namespace std::chrono_literals;

// A server that works on `width` requests at a time, `service` each, `distance` away, and refuses above `refuse_above`.
struct Server {
  Loop& loop;
  size_t width = 2;
  Duration service = 1ms;
  Duration distance = 0ms;
  size_t refuse_above = 100'000;

  Signal freed{loop};
  size_t busy = 0;
  size_t present = 0;

  Task<bool> answer() {
    if (present >= refuse_above) {
      (void)co_await sleep_for(loop, distance + 1ms);
      co_return false;
    }
    ++present;
    (void)co_await sleep_for(loop, distance / 2);
    while (busy >= width) (void)co_await freed.wait();
    ++busy;
    (void)co_await sleep_for(loop, service);
    --busy;
    freed.notify_one();
    (void)co_await sleep_for(loop, distance / 2);
    --present;
    co_return true;
  }
};

struct Tally {
  size_t highest = 0;
  size_t lowest = 1'000'000;
  size_t refused = 0;
  Duration took{};
};

Task<void> one(Server& server, InFlight& flight, Signal& changed, Tally& run, size_t& left) {
  while (left > 0) {
    if (!flight.has_room()) {
      (void)co_await changed.wait();
      continue;
    }
    --left;
    flight.start();
    TimePoint started = server.loop.now();
    bool ok = co_await server.answer();
    flight.learn(ok ? InFlight::Outcome::answered : InFlight::Outcome::refused, started, server.loop.now());
    flight.end();
    run.refused += !ok;
    run.highest = std::max(run.highest, flight.limit());
    run.lowest = std::min(run.lowest, flight.limit());
    changed.notify_all();
  }
}

Task<Tally> send_all(Server& server, InFlight& flight, size_t requests, size_t senders = 400) {
  Tally run;
  Signal changed(server.loop);
  TimePoint begin = server.loop.now();
  Scope scope(server.loop, nullptr);
  for (size_t i = 0; i < senders; ++i) scope.spawn(one(server, flight, changed, run, requests));
  co_await scope.join();
  run.took = server.loop.now() - begin;
  co_return run;
}

TEST(InFlight, ReachesSixtyFourWithinTheFirstAnswersAndStaysThere) {
  VirtualLoop loop;
  Server server{.loop = loop, .width = 2, .service = 1333us};  // 1,500 a second: the server is the limit
  InFlight flight(200);
  Tally start = loop.run(send_all(server, flight, 100, 64));
  EXPECT_GE(start.highest, 50);
  Tally rest = loop.run(send_all(server, flight, 3000));
  EXPECT_EQ(rest.highest, 64);
  EXPECT_GE(rest.lowest, start.highest);
}

TEST(InFlight, ASlowServerIsNotStarved) {
  VirtualLoop loop;
  Server server{.loop = loop, .width = 4, .service = 40ms};  // 100 a second; with 64 in flight an answer takes 640 ms
  InFlight flight(200);
  Tally run = loop.run(send_all(server, flight, 3000));
  EXPECT_GE(run.lowest, 16);
  EXPECT_LE(run.took, 31s);
}

TEST(InFlight, AServerThatBecomesFarSlowerGetsLessButEnough) {
  VirtualLoop loop;
  Server server{.loop = loop, .width = 2, .service = 1ms};
  InFlight flight(200);
  loop.run(send_all(server, flight, 2000));
  server.service = 40ms;  // 50 a second; 64 in flight would wait for 1.3 s
  Tally run = loop.run(send_all(server, flight, 1000));
  EXPECT_LT(run.lowest, 32);
  EXPECT_GE(run.lowest, InFlight::kPatient);
  EXPECT_LE(run.took, 21s);
}

TEST(InFlight, GrowsPastSixtyFourForAServerThatIsFarAway) {
  VirtualLoop loop;
  Server server{.loop = loop, .width = 1000, .service = 1ms, .distance = 200ms};
  InFlight flight(200);
  Tally run = loop.run(send_all(server, flight, 3000));
  EXPECT_EQ(run.highest, 200);
}

TEST(InFlight, FollowsRefusalsAndKeepsTheServerBusy) {
  VirtualLoop loop;
  Server server{.loop = loop, .width = 10, .service = 10ms, .refuse_above = 20};
  InFlight flight(200);
  Tally run = loop.run(send_all(server, flight, 5000));
  EXPECT_LT(run.refused, 500);
  EXPECT_GE(run.lowest, 5);
  EXPECT_LE(run.took, 6s);
}

TEST(InFlight, HalvesOnceForWhatWasOnItsWayTogether) {
  InFlight flight(64);
  TimePoint start{};
  for (int i = 0; i < 32; ++i) flight.start();
  for (int i = 0; i < 32; ++i) flight.learn(InFlight::Outcome::refused, start, start + 10ms);
  EXPECT_EQ(flight.limit(), 16);
  flight.learn(InFlight::Outcome::refused, start + 20ms, start + 30ms);
  EXPECT_EQ(flight.limit(), 8);
}

TEST(InFlight, NeverFallsBelowOneNorGrowsPastItsCap) {
  InFlight flight(4);
  EXPECT_EQ(flight.limit(), 4);
  TimePoint now{};
  for (int i = 1; i <= 10; ++i) flight.learn(InFlight::Outcome::refused, now + i * 1s, now + i * 1s);
  EXPECT_EQ(flight.limit(), 1);
  flight.start();
  EXPECT_FALSE(flight.has_room());
  for (int i = 0; i < 1000; ++i) {
    while (flight.has_room()) flight.start();
    flight.learn(InFlight::Outcome::answered, now, now + 1ms);
  }
  EXPECT_EQ(flight.limit(), 4);
  EXPECT_EQ(InFlight(0).limit(), 1);
}

TEST(InFlight, LearnsNothingFromLossesNorWhileThereIsNoUseForMore) {
  InFlight flight(64);
  TimePoint now{};
  for (int i = 0; i < 100; ++i) {
    flight.start();
    flight.learn(InFlight::Outcome::answered, now, now + 1ms);
    flight.end();
  }
  for (int i = 0; i < 32; ++i) flight.start();
  for (int i = 0; i < 100; ++i) flight.learn(InFlight::Outcome::lost, now, now + 30s);
  EXPECT_EQ(flight.limit(), 32);
}

}  // namespace
}  // namespace fairlead::http
