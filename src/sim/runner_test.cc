#include "sim/runner.h"

#include <gtest/gtest.h>

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kMap = "/api/v1/namespaces/default/configmaps/kube-root";

Weather rough(Random& random) {
  Weather weather = draw_weather(random);
  weather.rates = {.late = 0.2, .lost_request = 0.3, .lost_answer = 0.2, .cut_body = 0.1};
  weather.restarts = {.every = 200ms, .lasts = 100ms};
  return weather;
}

// Ten steps, each a request over a network of its own; fails once two requests were lost.
Task<void> two_losses(World& world) {
  int lost = 0;
  for (uint64_t i = 0; i < 10; ++i) {
    if (!world.history.step("step", i)) continue;
    FaultyTransport& transport = world.transport(fmt::format("client-{}", i));
    Result<http::Response> response = co_await http::send(transport, {.target = kMap});
    if (!response && ++lost == 2) world.fail("two requests were lost");
  }
}

TEST(Runner, AFailureIsMadeAsShortAsItCanBe) {
  Scenario scenario{.name = "two-losses", .weather = rough, .play = two_losses};
  Tally tally = run_seeds(scenario, 1, 100);
  ASSERT_TRUE(tally.found);
  // Two steps, and a fault for each.
  EXPECT_EQ(tally.found->shortest.happenings.size(), 4u);
  EXPECT_GT(tally.found->as_found.happenings.size(), 4u);
  std::string text = report(*tally.found);
  EXPECT_TRUE(
      text.starts_with(fmt::format("two-losses fails with seed {}: two requests were lost\n"
                                   "  4 faults and steps are enough, of {}:\n",
                                   tally.found->seed, tally.found->as_found.happenings.size())))
      << text;
  EXPECT_TRUE(text.ends_with(fmt::format("  replay it with: ./dev sim two-losses --seed {}\n", tally.found->seed)))
      << text;
  EXPECT_NE(text.find("FAILURE     two requests were lost\n"), std::string::npos) << text;
}

TEST(Runner, ARunIsReplayedExactlyFromItsSeed) {
  Scenario scenario{.name = "two-losses", .weather = rough, .play = two_losses};
  for (uint64_t seed = 1; seed < 20; ++seed) {
    std::string history = run_once(scenario, seed, {}, true).history;
    EXPECT_EQ(history, run_once(scenario, seed, {}, true).history);
    EXPECT_NE(history, run_once(scenario, seed + 100, {}, true).history);
  }
}

TEST(Runner, ARunThatHangsIsAFailure) {
  Scenario scenario{.name = "hangs", .play = [](World& world) -> Task<void> {
                      Signal never(world.loop);
                      (void)co_await never.wait();
                    }};
  EXPECT_EQ(run_once(scenario, 1).failure, "the run hangs: it is not over after 3600 s");
}

TEST(Runner, WithoutAFailureAllSeedsAreRun) {
  Scenario scenario{.name = "fine", .play = [](World& world) -> Task<void> {
                      (void)co_await http::send(world.transport("client"), {.target = kMap});
                    }};
  Tally tally = run_seeds(scenario, 5, 50);
  EXPECT_EQ(tally.runs, 50u);
  EXPECT_EQ(tally.requests, 50u);
  EXPECT_GT(tally.faults, 0u);
  EXPECT_FALSE(tally.found);
}

TEST(Runner, AFailureForAnotherReasonThanTheOneLookedForIsPassedOver) {
  Scenario scenario{.name = "two-ways", .play = [](World& world) -> Task<void> {
                      world.fail(world.seed < 7 ? "one way to fail" : "another way to fail");
                      co_return;
                    }};
  Tally tally = run_seeds(scenario, 1, 50, [] { return true; }, "another way");
  EXPECT_EQ(tally.runs, 7u);
  ASSERT_TRUE(tally.found);
  EXPECT_EQ(tally.found->seed, 7u);
  EXPECT_FALSE(run_seeds(scenario, 1, 50, [] { return true; }, "no way").found);
}

TEST(World, SpellsComeAndGoAndAreOverWhenItIsHealed) {
  Weather weather;
  World world(1, weather, {}, false);
  int begun = 0;
  int ended = 0;
  world.disturb("spell", {.every = 1s, .lasts = 1s}, [&](uint64_t) { ++begun; }, [&](uint64_t) { ++ended; });
  (void)world.loop.run(sleep_for(world.loop, 60s));
  EXPECT_GT(begun, 10);
  EXPECT_LE(ended, begun);
  world.heal();
  EXPECT_EQ(ended, begun);
  int before = begun;
  (void)world.loop.run(sleep_for(world.loop, 60s));
  EXPECT_EQ(begun, before);
  world.loop.run(world.stop());
}

TEST(World, AServerThatIsDownComesBack) {
  Weather weather;
  weather.restarts = {.every = 1s, .lasts = 1s};
  World world(1, weather, {}, false);
  FaultyTransport& transport = world.transport("client");
  int down = 0;
  for (int i = 0; i < 100; ++i) {
    (void)world.loop.run(sleep_for(world.loop, 100ms));
    down += world.loop.run(http::send(transport, {.target = "/api/v1/namespaces"}))->status == 503;
  }
  EXPECT_GT(down, 10);
  world.heal();
  EXPECT_EQ(world.loop.run(http::send(transport, {.target = "/api/v1/namespaces"}))->status, 200);
  world.loop.run(world.stop());
}

}  // namespace
}  // namespace fairlead::sim
