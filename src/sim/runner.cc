#include "sim/runner.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::sim {
namespace {

constexpr uint64_t kRunTwiceEvery = 100;
// A run that hangs has a history without an end.
constexpr size_t kLinesAtEachEnd = 100;
// Runs that are spent on making a failure shorter.
constexpr int kMostAttempts = 2000;

bool fails(const Run& run, const std::string& reason) {
  return run.failure && run.failure->find(reason) != std::string::npos;
}

// Spares what can be spared: halves first, then ever smaller parts, down to single things.
class Shortening {
 public:
  Shortening(const Scenario& scenario, uint64_t seed, const Run& found, const std::string& reason)
      : scenario_(scenario), seed_(seed), reason_(reason), shortest_(found) {}

  Spared run() {
    for (size_t part = std::max<size_t>(1, shortest_.happenings.size() / 2); part > 0 && attempts_ < kMostAttempts;) {
      bool shorter = pass(part);
      if (part > 1) part /= 2;
      else if (!shorter) break;
    }
    return spared_;
  }

 private:
  // Tries to do without each part of that size, the last ones first: they follow from the first ones.
  bool pass(size_t part) {
    bool shorter = false;
    size_t end = shortest_.happenings.size();
    while (end > 0 && attempts_ < kMostAttempts) {
      size_t begin = end - std::min(part, end);
      Spared more = spared_;
      for (size_t i = begin; i < end; ++i) more.insert(shortest_.happenings[i]);
      ++attempts_;
      Run run = run_once(scenario_, seed_, more);
      if (fails(run, reason_) && run.happenings.size() < shortest_.happenings.size()) {
        spared_ = std::move(more);
        shortest_ = std::move(run);
        shorter = true;
      }
      end = std::min(begin, shortest_.happenings.size());
    }
    return shorter;
  }

  const Scenario& scenario_;
  uint64_t seed_;
  const std::string& reason_;
  Run shortest_;
  Spared spared_;
  int attempts_ = 0;
};

// A run that does not end by itself is told to.
Task<void> play(const Scenario& scenario, World& world) {
  CancelSource cancel;
  Loop::TimerId timer = world.loop.call_after(scenario.time_limit, [&] {
    world.fail(fmt::format("the run hangs: it is not over after {} s", scenario.time_limit / std::chrono::seconds(1)));
    cancel.cancel();
  });
  co_await scenario.play(world).governed_by(&cancel);
  world.loop.cancel_timer(timer);
}

// One that is not the same when it is run again can be neither replayed nor made shorter.
void check_repeatable(const Scenario& scenario, uint64_t seed, Run& run) {
  run.history = run_once(scenario, seed, {}, true).history;
  if (run.history == run_once(scenario, seed, {}, true).history) return;
  run.failure = "the run is not the same when it is run again";
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

Run run_once(const Scenario& scenario, uint64_t seed, const Spared& spared, bool keep_history) {
  Random random = dice(seed, "weather");
  World world(seed, scenario.weather(random), spared, keep_history);
  world.loop.run(play(scenario, world));
  world.loop.run(world.stop());
  return {.failure = world.failure(),
          .happenings = world.history.happenings(),
          .faults = world.history.faults(),
          .requests = world.requests(),
          .history = world.history.text()};
}

std::string report(const Found& found) {
  std::string text = fmt::format("{} fails with seed {}: {}\n", found.scenario, found.seed, *found.shortest.failure);
  if (found.as_found.failure != found.shortest.failure)
    text += fmt::format("  before it was made shorter: {}\n", *found.as_found.failure);
  text += fmt::format("  {} faults and steps are enough, of {}:\n", found.shortest.happenings.size(),
                      found.as_found.happenings.size());
  std::vector<std::string_view> lines = lines_of(found.shortest.history);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i == kLinesAtEachEnd && lines.size() > 2 * kLinesAtEachEnd) {
      size_t left_out = lines.size() - 2 * kLinesAtEachEnd;
      text += fmt::format("  ({} lines are left out)\n", left_out);
      i += left_out;
    }
    text += fmt::format("  {}\n", lines[i]);
  }
  text += fmt::format("  replay it with: ./dev sim {} --seed {}\n", found.scenario, found.seed);
  return text;
}

Tally run_seeds(const Scenario& scenario, uint64_t first, uint64_t count, const std::function<bool()>& go_on,
                const std::string& reason) {
  Tally tally;
  for (uint64_t i = 0; i < count && go_on(); ++i) {
    uint64_t seed = first + i;
    Run run = run_once(scenario, seed);
    ++tally.runs;
    tally.faults += run.faults;
    tally.requests += run.requests;
    if (!run.failure && i % kRunTwiceEvery == 0) check_repeatable(scenario, seed, run);
    if (!fails(run, reason)) continue;
    Found found{.scenario = scenario.name, .seed = seed, .as_found = std::move(run), .shortest = {}, .spared = {}};
    found.spared = Shortening(scenario, seed, found.as_found, reason).run();
    found.shortest = run_once(scenario, seed, found.spared, true);
    // Only a run that cannot be repeated fails no more.
    if (!found.shortest.failure) found.shortest = found.as_found;
    tally.found = std::move(found);
    return tally;
  }
  return tally;
}

}  // namespace fairlead::sim
