#include <fmt/format.h>

#include "mirror.h"
#include "scenarios.h"
#include "workload.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

Task<void> watch_late(World& world, Mirror& mirror, std::string name) {
  Random random = world.dice(name, 2);
  if (random.chance(0.5) && !co_await sleep_for(world.loop, some_time(random, 5s))) co_return;
  co_await mirror.watch();
}

Task<void> play(World& world, Sabotage sabotage) {
  StoreLog log(world, {"", "configmaps"});
  std::vector<std::unique_ptr<http::Transport>> sabotaged;
  std::vector<std::unique_ptr<Mirror>> mirrors;
  Scope watching(world.loop, co_await current_cancel());
  uint64_t watchers = 1 + world.random.below(2);
  for (uint64_t i = 1; i <= watchers; ++i) {
    std::string name = fmt::format("watcher-{}", i);
    http::Transport* network = &world.transport(name);
    if (sabotage) network = sabotaged.emplace_back(sabotage(*network, log)).get();
    mirrors.push_back(std::make_unique<Mirror>(world, log, name, *network));
    watching.spawn(watch_late(world, *mirrors.back(), name));
  }
  co_await change_objects(world, 1 + world.random.below(3));
  world.heal();
  // Longer than every pause and everything that is still on its way.
  (void)co_await sleep_for(world.loop, 30s + world.weather.rates.delay);
  for (const std::unique_ptr<Mirror>& mirror : mirrors) mirror->check();
  watching.cancel();
  co_await watching.join();
}

}  // namespace

Scenario watch_scenario(Sabotage sabotage) {
  return {.name = "watch", .play = [sabotage = std::move(sabotage)](World& world) { return play(world, sabotage); }};
}

}  // namespace fairlead::sim
