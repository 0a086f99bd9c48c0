// Runs scenarios: so many seeds, or for so long, or one seed with its history.
//
//   sim_runs [NAME…] [--first SEED] [--count RUNS] [--seconds SECONDS] [--seed SEED] [--must-fail REASON]
//
// Without a name, all that have no bug put in. --must-fail: the bug has to be found, by a failure with these words.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>
#include <random>
#include <string_view>

#include "scenarios.h"

namespace fairlead::sim {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint64_t kUsualCount = 2000;

Scenario named(std::string name, Scenario scenario) {
  scenario.name = std::move(name);
  return scenario;
}

std::vector<Scenario> sound() {
  return {watch_scenario(),   counter_scenario(), list_scenario(),  webhook_scenario(),
          rollout_scenario(), removal_scenario(), lease_scenario(), gate_scenario()};
}

std::vector<Scenario> sabotaged() {
  return {named("resumes-late", watch_scenario(resumes_late())),
          named("forgets-deletions", watch_scenario(forgets_deletions())),
          named("overwrites", counter_scenario(overwrites())),
          named("mixes-pages", list_scenario(mixes_pages())),
          named("forgets-members", rollout_scenario(forgets_members())),
          named("overlooks-claim", rollout_scenario(overlooks_claim())),
          named("forgets-connection", rollout_scenario(forgets_connection())),
          named("forgets-dry-run", rollout_scenario(forgets_dry_run())),
          named("overlooks-former-managers", rollout_scenario(overlooks_former_managers())),
          named("believes-at-once", rollout_scenario(believes_at_once())),
          named("believes-ready", rollout_scenario(believes_ready())),
          named("believes-deleted", removal_scenario(believes_deleted())),
          named("assumes-gone", removal_scenario(assumes_gone())),
          named("forgets-uids", removal_scenario(forgets_uids())),
          named("overlooks-others", removal_scenario(overlooks_others())),
          named("overlooks-finalizers", removal_scenario(overlooks_finalizers())),
          named("believes-labels", removal_scenario(believes_labels())),
          named("takes-regardless", lease_scenario(takes_regardless())),
          named("shows-the-past", lease_scenario(shows_the_past())),
          named("overlooks-suspension", lease_scenario(overlooks_suspension())),
          named("believes-doubts", gate_scenario(true))};
}

struct Arguments {
  std::vector<std::string> names;
  uint64_t first = 1;
  uint64_t count = kUsualCount;
  std::optional<uint64_t> seconds;
  std::optional<uint64_t> seed;
  std::string must_fail;
};

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<Arguments> read(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    if (word == "--must-fail") {
      if (i + 1 == count) return fail(ErrorKind::invalid, "--must-fail needs the words of the failure");
      arguments.must_fail = words[++i];
      continue;
    }
    if (!word.starts_with("--")) {
      arguments.names.emplace_back(word);
      continue;
    }
    std::optional<uint64_t> value = i + 1 < count ? number(words[++i]) : std::nullopt;
    if (!value) return fail(ErrorKind::invalid, "{} needs a number", word);
    if (word == "--first") arguments.first = *value;
    else if (word == "--count") arguments.count = *value;
    else if (word == "--seconds") arguments.seconds = *value;
    else if (word == "--seed") arguments.seed = *value;
    else return fail(ErrorKind::invalid, "there is no option {}", word);
  }
  return arguments;
}

Result<std::vector<Scenario>> choose(const std::vector<std::string>& names) {
  if (names.empty()) return sound();
  std::vector<Scenario> all = sound();
  for (Scenario& scenario : sabotaged()) all.push_back(std::move(scenario));
  std::vector<Scenario> chosen;
  for (const std::string& name : names) {
    auto found = std::ranges::find(all, name, &Scenario::name);
    if (found == all.end()) {
      std::string there;
      for (const Scenario& scenario : all) there += " " + scenario.name;
      return fail(ErrorKind::not_found, "there is no scenario {}; there are:{}", name, there);
    }
    chosen.push_back(*found);
  }
  return chosen;
}

// `cpu` is what this process used of one core: others may use it, too.
void print_rate(const Scenario& scenario, const Tally& tally, uint64_t first, double cpu) {
  double runs = double(tally.runs);
  fmt::print("{}: {} runs from seed {} on, {:.0f} a second of one core; a run has {:.1f} requests and {:.1f} faults\n",
             scenario.name, tally.runs, first, runs / cpu, double(tally.requests) / runs, double(tally.faults) / runs);
}

// One seed, as a run of many would have it; with its history if it does not fail.
bool replay(const Scenario& scenario, uint64_t seed) {
  if (Tally tally = run_seeds(scenario, seed, 1); tally.found) {
    fmt::print("{}", report(*tally.found));
    return false;
  }
  fmt::print("{}{} does not fail with seed {}\n", run_once(scenario, seed, {}, true).history, scenario.name, seed);
  return true;
}

bool run(const Scenario& scenario, const Arguments& arguments, uint64_t first,
         std::optional<SteadyClock::duration> time) {
  SteadyClock::time_point started = SteadyClock::now();
  std::clock_t cpu_before = std::clock();
  uint64_t count = time ? UINT64_MAX : arguments.count;
  auto go_on = [&] { return !time || SteadyClock::now() - started < *time; };
  Tally tally = run_seeds(scenario, first, count, go_on, arguments.must_fail);
  print_rate(scenario, tally, first, double(std::clock() - cpu_before) / CLOCKS_PER_SEC);
  if (tally.found) fmt::print("{}", report(*tally.found));
  if (arguments.must_fail.empty()) return !tally.found;
  if (!tally.found) fmt::print("{}: no run fails with \"{}\"\n", scenario.name, arguments.must_fail);
  return tally.found.has_value();
}

int run_all(const Arguments& arguments, const std::vector<Scenario>& scenarios) {
  // Somewhere else every time, and far from where tests begin.
  uint64_t first = arguments.seconds ? (uint64_t{std::random_device{}()} + 1) * 1'000'000 : arguments.first;
  std::optional<SteadyClock::duration> each;
  if (arguments.seconds) each = std::chrono::milliseconds(*arguments.seconds * 1000 / scenarios.size());
  bool good = true;
  for (const Scenario& scenario : scenarios) {
    bool one = arguments.seed ? replay(scenario, *arguments.seed) : run(scenario, arguments, first, each);
    good = good && one;
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace fairlead::sim

int main(int count, char** words) {
  using namespace fairlead;
  Result<sim::Arguments> arguments = sim::read(count, words);
  Result<std::vector<sim::Scenario>> scenarios =
      arguments ? sim::choose(arguments->names) : Result<std::vector<sim::Scenario>>(fail(arguments.error()));
  if (!scenarios) {
    fmt::print(stderr, "sim_runs: {}\n", scenarios.error().message());
    return 2;
  }
  return sim::run_all(*arguments, *scenarios);
}
