// Runs a scenario with one seed after the other; a failure is made as short as it can be, and told.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/world.h"

namespace fairlead::sim {

struct Scenario {
  std::string name;
  // What a seed makes of the cluster and the network: draw_weather, or what is made of that.
  std::function<Weather(Random&)> weather = draw_weather;
  // The work, and the checks, which report with World::fail. Everything that it starts has ended when it has.
  std::function<Task<void>(World&)> play;
  // A run that takes longer, by its own clock, hangs.
  Duration time_limit = std::chrono::hours(1);
};

struct Run {
  std::optional<std::string> failure;
  std::vector<Happening> happenings;
  size_t faults = 0;
  uint64_t requests = 0;
  // Only if it was wanted.
  std::string history;
};
Run run_once(const Scenario& scenario, uint64_t seed, const Spared& spared = {}, bool keep_history = false);

struct Found {
  std::string scenario;
  uint64_t seed = 0;
  Run as_found;
  // The shortest run that still fails, though perhaps in other words.
  Run shortest;
  Spared spared;
};
// What failed, how to replay it, and the shortest history.
std::string report(const Found& found);

struct Tally {
  uint64_t runs = 0;
  uint64_t faults = 0;
  uint64_t requests = 0;
  // The first failure: the runs end with it.
  std::optional<Found> found;
};
// Ends early, too, when `go_on` says no. Every hundredth run is run twice, to see that nothing but the seed decides.
// With a `reason`, only failures that have it in their words count: others are passed over.
Tally run_seeds(
    const Scenario& scenario, uint64_t first, uint64_t count, const std::function<bool()>& go_on = [] { return true; },
    const std::string& reason = {});

}  // namespace fairlead::sim
