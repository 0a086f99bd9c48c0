#include "sim/world.h"

#include <fmt/format.h>

#include <array>

namespace fairlead::sim {

World::World(uint64_t with_seed, Weather conditions, Spared spared, bool keep_history)
    : seed(with_seed),
      history(loop, std::move(spared), keep_history),
      weather(std::move(conditions)),
      sandbox(loop, cluster_options()),
      random(sim::dice(seed, "workload")),
      scope_(loop, nullptr) {
  start_weather();
}

sandbox::Options World::cluster_options() {
  sandbox::Options options = weather.cluster;
  options.forbids = [this, more = options.forbids](std::string_view user, std::string_view verb, std::string_view group,
                                                   std::string_view resource, std::string_view ns,
                                                   std::string_view name) {
    return verb == forbidden_verb_ || (more && more(user, verb, group, resource, ns, name));
  };
  return options;
}

void World::start_weather() {
  auto server = [this](uint64_t spell) {
    return static_cast<size_t>(dice("restart", spell).below(sandbox.api_servers()));
  };
  disturb(
      "restart", weather.restarts,
      [this, server](uint64_t spell) {
        history.note("restart", [&] { return fmt::format("API server {} goes down", server(spell)); });
        sandbox.set_down(server(spell), true);
      },
      [this, server](uint64_t spell) {
        history.note("restart", [&] { return fmt::format("API server {} is back", server(spell)); });
        sandbox.set_down(server(spell), false);
      });
  disturb(
      "compaction", weather.compactions,
      [this](uint64_t) {
        history.note("compaction", [&] { return "the history is forgotten"; });
        sandbox.compact();
      },
      [](uint64_t) {});
  disturb(
      "forbidden", weather.forbidden,
      [this](uint64_t spell) {
        constexpr std::array<std::string_view, 7> kVerbs = {"get",   "list",   "watch", "create",
                                                            "patch", "update", "delete"};
        forbidden_verb_ = kVerbs[dice("forbidden", spell).below(kVerbs.size())];
        history.note("forbidden", [&] { return fmt::format("{} is forbidden", forbidden_verb_); });
      },
      [this](uint64_t) {
        history.note("forbidden", [&] { return fmt::format("{} is allowed again", forbidden_verb_); });
        forbidden_verb_.clear();
      });
}

http::Transport& World::any_api_server(std::string_view for_whom) {
  return sandbox.api_server(static_cast<size_t>(dice(for_whom).below(sandbox.api_servers())));
}

FaultyTransport& World::transport(std::string name) {
  http::Transport& server = any_api_server(name);
  return transport(std::move(name), server);
}

FaultyTransport& World::transport(std::string name, http::Transport& inner) {
  return *transports_.emplace_back(
      std::make_unique<FaultyTransport>(loop, history, inner, std::move(name), seed, weather.rates));
}

void World::disturb(std::string name, Spells spells, Change begin, Change end) {
  if (spells.every == Duration::zero() || history.healed()) return;
  auto disturbance = std::make_unique<Disturbance>(
      Disturbance{.name = std::move(name), .spells = spells, .begin = std::move(begin), .end = std::move(end)});
  scope_.spawn(run_disturbance(*disturbances_.emplace_back(std::move(disturbance))));
}

Task<void> World::run_disturbance(Disturbance& disturbance) {
  for (uint64_t spell = 0;; ++spell) {
    Random chance = dice(disturbance.name, spell);
    if (!co_await sleep_for(loop, some_time(chance, disturbance.spells.every * 2))) co_return;
    Duration lasts = some_time(chance, disturbance.spells.lasts * 2);
    bool happens = history.fault(disturbance.name, spell);
    if (happens) {
      disturbance.on = true;
      disturbance.spell = spell;
      disturbance.begin(spell);
    }
    Result<void> waited = co_await sleep_for(loop, lasts);
    if (disturbance.on) {
      disturbance.on = false;
      disturbance.end(spell);
    }
    if (!waited) co_return;
  }
}

void World::heal() {
  history.note("world", [&] { return "healed"; });
  history.heal();
  scope_.cancel();
  for (const std::unique_ptr<Disturbance>& disturbance : disturbances_)
    if (std::exchange(disturbance->on, false)) disturbance->end(disturbance->spell);
}

void World::fail(std::string what) {
  history.note("FAILURE", [&] { return what; });
  if (!failure_) failure_ = std::move(what);
}

Task<void> World::stop() {
  heal();
  co_await scope_.join();
  for (const std::unique_ptr<FaultyTransport>& transport : transports_) co_await transport->stop();
  co_await sandbox.stop();
}

uint64_t World::requests() const {
  uint64_t sum = 0;
  for (const std::unique_ptr<FaultyTransport>& transport : transports_) sum += transport->requests();
  return sum;
}

}  // namespace fairlead::sim
