#include <fmt/format.h>

#include <charconv>

#include "kube/client.h"
#include "scenarios.h"
#include "workload.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

// A list is what the store had at the version that the list names: no page older or newer than the others.
void check(World& world, const StoreLog& log, const kube::List& list) {
  uint64_t version = 0;
  const std::string& text = list.resource_version;
  std::from_chars(text.data(), text.data() + text.size(), version);
  sandbox::Store::Objects expected = log.state_at(version);
  if (list.items.size() != expected.size())
    return world.fail(fmt::format("the list at version {} has {} objects instead of {}", version, list.items.size(),
                                  expected.size()));
  auto item = list.items.begin();
  for (const auto& [place, object] : expected) {
    if (!item->same_as(*object))
      return world.fail(
          fmt::format("the list at version {} has\n{}\ninstead of\n{}", version, item->dump(), object->dump()));
    ++item;
  }
}

Task<void> list_again_and_again(World& world, const StoreLog& log, std::string name, http::Transport& network) {
  kube::Client client(world.loop, network, nullptr, client_options(world, name));
  std::string steps = name + " step";
  for (uint64_t step = 0; step < 6; ++step) {
    Random random = world.dice(steps, step);
    (void)co_await sleep_for(world.loop, some_time(random, 1500ms));
    if (!world.history.step(steps, step)) continue;
    kube::Outcome<kube::List> list = co_await client.list(config_maps(), {.ns = "default", .page = random.below(4)});
    if (list) check(world, log, *list);
  }
}

Task<void> play(World& world, Sabotage sabotage) {
  StoreLog log(world, {"", "configmaps"});
  std::vector<std::unique_ptr<http::Transport>> sabotaged;
  Scope listing(world.loop, co_await current_cancel());
  for (const char* name : {"lister-1", "lister-2"}) {
    http::Transport* network = &world.transport(name);
    if (sabotage) network = sabotaged.emplace_back(sabotage(*network, log)).get();
    listing.spawn(list_again_and_again(world, log, name, *network));
  }
  co_await change_objects(world, 1 + world.random.below(3));
  co_await listing.join();
  world.heal();

  kube::Client client(world.loop, world.transport("last"), nullptr, {});
  kube::Outcome<kube::List> list = co_await client.list(config_maps(), {.ns = "default", .page = 2});
  if (list) check(world, log, *list);
  else world.fail("the last list failed: " + list.error().error().message());
}

}  // namespace

Scenario list_scenario(Sabotage sabotage) {
  return {.name = "list", .play = [sabotage = std::move(sabotage)](World& world) { return play(world, sabotage); }};
}

}  // namespace fairlead::sim
