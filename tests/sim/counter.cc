#include <fmt/format.h>

#include <charconv>

#include "kube/client.h"
#include "sandbox/core/core.h"
#include "scenarios.h"
#include "workload.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kIncrements = 4;

int64_t number(const Json& text) {
  int64_t value = 0;
  std::string_view digits = text.string_or("0");
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Counts up in the object: its own number, and the sum of all. An increment whose outcome is not known is looked for
// before it is made again; that its own number is in the object tells.
class Counter {
 public:
  Counter(World& world, const StoreLog& log, std::string name, http::Transport& network)
      : world_(world),
        log_(log),
        name_(std::move(name)),
        client_(world.loop, network, nullptr, client_options(world, name_)) {}

  const std::string& name() const { return name_; }
  int64_t made() const { return made_; }

  Task<void> count() {
    std::string steps = name_ + " step";
    for (uint64_t step = 0; step < kIncrements; ++step) {
      Random random = world_.dice(steps, step);
      (void)co_await sleep_for(world_.loop, some_time(random, 500ms));
      if (!world_.history.step(steps, step)) continue;
      ++made_;
      while (!co_await increment())
        if (!co_await sleep_for(world_.loop, 10ms + some_time(random, 1s))) co_return;
    }
  }

 private:
  // Whether the number is there.
  Task<bool> increment() {
    kube::Outcome<kube::Reply> got = co_await client_.get(config_maps(), "default", "counter");
    if (!got) co_return false;
    Json object = std::move(got->value);
    if (number(object["data"][name_]) >= made_) co_return true;
    Json& data = object.make("data");
    data.make(name_) = std::to_string(made_);
    data.make("sum") = std::to_string(number(object["data"]["sum"]) + 1);
    kube::Outcome<kube::Reply> put = co_await client_.replace(config_maps(), "default", "counter", object);
    if (!put) co_return false;
    world_.history.note(name_, [&] { return fmt::format("is told that {} is stored", made_); });
    const sandbox::Event* stored = log_.at(version_of(put->value));
    if (!stored || (*stored->object)["data"] != object["data"])
      world_.fail(fmt::format("{} was told that {} is stored, which it is not", name_, made_));
    co_return true;
  }

  World& world_;
  const StoreLog& log_;
  std::string name_;
  kube::Client client_;
  int64_t made_ = 0;
};

// Every change is one increment: one writer's number and the sum, by one. The same once more does no harm.
void check_changes(World& world, const StoreLog& log) {
  for (const sandbox::Event& event : log.events()) {
    if (!event.previous) continue;
    const Json& before = (*event.previous)["data"];
    const Json& after = (*event.object)["data"];
    if (after == before) continue;
    int64_t changed = 0;
    for (const Json::Member& member : after.members()) {
      int64_t by = number(member.value) - number(before[member.key]);
      if (by != 0 && by != 1)
        world.fail(fmt::format("the change at version {} takes the {} of another writer from {} to {}", event.version,
                               member.key, number(before[member.key]), number(member.value)));
      changed += by;
    }
    if (changed != 2)
      world.fail(fmt::format("the change at version {} is not one increment: {} to {}", event.version, before.dump(),
                             after.dump()));
  }
}

Task<void> play(World& world, Sabotage sabotage) {
  StoreLog log(world, {"", "configmaps"});
  (void)co_await http::send(world.sandbox.api_server(), {.method = "POST",
                                                         .target = "/api/v1/namespaces/default/configmaps",
                                                         .headers = {{"Content-Type", "application/json"}},
                                                         .body = config_map("counter", {{"sum", "0"}}).dump()});
  std::vector<std::unique_ptr<http::Transport>> sabotaged;
  std::vector<std::unique_ptr<Counter>> counters;
  Scope scope(world.loop, co_await current_cancel());
  uint64_t writers = 2 + world.random.below(3);
  for (uint64_t i = 1; i <= writers; ++i) {
    std::string name = fmt::format("writer-{}", i);
    http::Transport* network = &world.transport(name);
    if (sabotage) network = sabotaged.emplace_back(sabotage(*network, log)).get();
    counters.push_back(std::make_unique<Counter>(world, log, name, *network));
    scope.spawn(counters.back()->count());
  }
  co_await scope.join();
  world.heal();
  (void)co_await sleep_for(world.loop, 10s + world.weather.rates.delay);

  check_changes(world, log);
  sandbox::ObjectPtr object = world.sandbox.core().find("", "configmaps", "default", "counter");
  int64_t sum = 0;
  for (const std::unique_ptr<Counter>& counter : counters) {
    sum += counter->made();
    if (int64_t stored = number((*object)["data"][counter->name()]); stored != counter->made())
      world.fail(fmt::format("{} made {} increments, and {} are stored", counter->name(), counter->made(), stored));
  }
  if (int64_t stored = number((*object)["data"]["sum"]); stored != sum)
    world.fail(fmt::format("the sum is {}, of {} increments", stored, sum));
}

}  // namespace

Scenario counter_scenario(Sabotage sabotage) {
  return {.name = "counter", .play = [sabotage = std::move(sabotage)](World& world) { return play(world, sabotage); }};
}

}  // namespace fairlead::sim
