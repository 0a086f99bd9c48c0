#include <algorithm>

#include "rollout_cluster.h"
#include "rollout_extension.h"
#include "rollout_older.h"
#include "rollout_runs.h"
#include "sandbox/core/core.h"
#include "scenarios.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

void check_leftovers(World& world, const Judge& judge, const OlderBundle& older) {
  std::string there = judge.still_there(older.leftovers);
  if (!there.empty()) world.fail("is not part of the bundle any more, and still there: " + there);
}

Task<void> play(World& world, RolloutSabotage sabotage) {
  auto keep = [&](uint64_t number) { return world.history.step("object", number); };
  std::shared_ptr<Judge> judge = Judge::make(world, draw_bundle(world.dice("bundle"), keep));
  Random random = world.dice("play");
  bool foreign = random.chance(0.1), two = random.chance(0.15), early = random.chance(0.5);
  Rollouts rollouts(world, judge, std::move(sabotage));
  OlderBundle older;
  bool renewed = rollouts.named() && random.chance(0.5) && world.history.step("older", 0);
  if (renewed) older = draw_older(world.dice("older bundle"), judge->bundle());
  serve_webhooks(world, judge, older.service);
  std::shared_ptr<Extension> extension;
  if (judge->bundle().has_extension) {
    extension = co_await Extension::start(world);
    judge->watch_extension(extension->store());
  }
  Scope others(world.loop, nullptr);
  others.spawn(inject(world, judge));
  if (foreign) co_await put_foreign_shadows(world);
  Bystanders bystanders = co_await put_bystanders(world, judge->bundle().home);
  co_await put_first_part(world, *judge);

  Duration heals_after = 1s + some_time(random, std::max<Duration>(20s, world.weather.rates.delay / 3));
  Loop::TimerId healing{};
  auto heal_later = [&] { healing = world.loop.call_after(heals_after, [&] { world.heal(); }); };
  if (early) heal_later();
  if (renewed) co_await rollouts.run_older(older.objects);
  if (!early) heal_later();
  // Another bundle has something in a namespace that leaves this one: both stay.
  if (renewed && world.dice("neighbour").chance(0.5) && world.history.step("neighbour", 0) &&
      world.sandbox.core().find("", "namespaces", "", "team-old")) {
    co_await put_neighbour(world, "team-old", bystanders);
    if (bystanders.contains({"configmaps", {"team-old", "neighbour"}}))
      std::erase_if(older.leftovers, [](const BundleObject& one) { return one.place.name == "team-old"; });
  }
  if (world.dice("deletion").chance(0.2) && world.history.step("deletion", 0)) co_await delete_namespace(world, *judge);
  judge->begin();
  if (renewed) rollouts.prune();
  if (world.dice("rehearsal").chance(0.2) && world.history.step("rehearsal", 0)) co_await rollouts.rehearse();
  Scope rivals(world.loop, nullptr);
  if (two && rollouts.named() && world.history.step("rival", 0)) rivals.spawn(rollouts.run_rival());
  co_await rollouts.run_until_done();
  co_await rivals.join();
  if (rollouts.rival_was_last() && !world.failure()) co_await rollouts.run_again();
  world.loop.cancel_timer(healing);
  world.heal();
  // The server behind an API may just have gone away again, and is back now.
  if (extension) (void)co_await sleep_for(world.loop, 10s);
  judge->check_stored();
  // What could not be listed, since the server behind its API was away, is left to the next run.
  bool unlisted = extension && !judge->still_there(older.leftovers).empty();
  if (unlisted && !world.failure()) co_await rollouts.run_again();
  check_leftovers(world, *judge, older);
  if (judge->has_shadows() && !world.failure()) {
    if (world.history.faults() == 0 && !rollouts.ever_killed())
      world.fail("shadows are left, and nothing had gone wrong");
    // Those of a run that was killed go once their time is over and somebody comes by.
    (void)co_await sleep_for(world.loop, 61min);
    co_await rollouts.run_again();
    judge->check_stored();
    if (judge->has_shadows()) world.fail("shadows are left though their time is over");
  }
  if (foreign) check_foreign_shadow(world);
  check_bystanders(world, bystanders);
  others.cancel();
  co_await others.join();
  if (extension) co_await extension->stop();
}

Weather weather(Random& random) {
  Weather weather = draw_weather(random);
  // A rollout that is not allowed to do its work says so and ends: that is no fault to wait out.
  weather.forbidden = {};
  weather.cluster.controllers = true;
  weather.cluster.events = false;
  weather.cluster.stale_configuration = random.chance(0.3) ? 0.3 : 0;
  weather.cluster.api_server_skew = some_time(random, 300ms);
  return weather;
}

}  // namespace

Scenario rollout_scenario(RolloutSabotage sabotage) {
  return {.name = "rollout",
          .weather = weather,
          .play = [sabotage = std::move(sabotage)](World& world) { return play(world, sabotage); },
          .time_limit = 4h};
}

}  // namespace fairlead::sim
