// A cluster, its network and its bad days, made from a seed.
//
// This is the room's first header. sim runs engines against the sandbox under the virtual clock, with faults from a
// seed, and checks what must always hold (runner.h). It is not part of the binary, and knows no engine.
//
//   Task<void> scenario(World& world) {
//     kube::Client client(world.loop, world.transport("writer-1"), nullptr, {});
//     ...                                    // work, in world.scope or here
//     world.heal();                          // no more faults: now everything has to come right
//     ...
//     if (bad) world.fail("what is wrong");
//   }
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/scope.h"
#include "sandbox/sandbox.h"
#include "sim/dice.h"
#include "sim/faulty_transport.h"
#include "sim/history.h"
#include "sim/weather.h"

namespace fairlead::sim {

class World {
 public:
  World(uint64_t seed, Weather conditions, Spared spared, bool keep_history);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const uint64_t seed;
  VirtualLoop loop;
  History history;
  const Weather weather;
  sandbox::Sandbox sandbox;
  // For how large the workload is. What single steps do is better drawn from dice(): see there.
  Random random;

  Random dice(std::string_view source, uint64_t number = 0) const { return sim::dice(seed, source, number); }

  // A way of its own to an API server of the world's choice; the name is in the history. Good until the end of the run.
  FaultyTransport& transport(std::string name);
  // The same, to somebody else (who must outlive the run): for what stands between a network and the API.
  FaultyTransport& transport(std::string name, http::Transport& inner);
  http::Transport& any_api_server(std::string_view for_whom);

  // Calls `begin` and `end` as the spells say, until the run is healed. Both get the number of the spell.
  using Change = std::function<void(uint64_t spell)>;
  void disturb(std::string name, Spells spells, Change begin, Change end);

  // Ends all faults: spells that are on are over when this returns.
  void heal();

  // The first failure counts.
  void fail(std::string what);
  const std::optional<std::string>& failure() const { return failure_; }

  // Ends everything. Always: before it is destroyed.
  Task<void> stop();

  uint64_t requests() const;

 private:
  struct Disturbance {
    std::string name;
    Spells spells;
    Change begin;
    Change end;
    bool on = false;
    uint64_t spell = 0;
  };
  sandbox::Options cluster_options();
  void start_weather();
  Task<void> run_disturbance(Disturbance& disturbance);

  std::string forbidden_verb_;
  std::vector<std::unique_ptr<FaultyTransport>> transports_;
  std::vector<std::unique_ptr<Disturbance>> disturbances_;
  std::optional<std::string> failure_;
  Scope scope_;
};

}  // namespace fairlead::sim
