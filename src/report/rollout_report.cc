#include "report/rollout_report.h"

#include <algorithm>

#include "report/internal/words.h"

namespace fairlead::report {
namespace {

using journal::Event;
using rollout::Ending;
using rollout::ObjectEnding;
using State = ObjectEnding::State;

Json json_of(const ObjectEnding& object) {
  Json json = object_json(object.key, object.source, name_of(object.state));
  json.make("ready") = object.ready;
  if (!object.warnings.empty()) json.make("warnings") = Json::Array(object.warnings.begin(), object.warnings.end());
  if (object.error) json.make("error") = journal::to_json(*object.error);
  return json;
}

constexpr std::pair<State, std::string_view> kCounted[] = {
    {State::created, "created"},    {State::changed, "changed"},      {State::unchanged, "unchanged"},
    {State::removed, "removed"},    {State::unchecked, "notChecked"}, {State::refused, "refused"},
    {State::not_ready, "notReady"}, {State::blocked, "blocked"},      {State::not_sent, "notSent"},
    {State::left_out, "leftOut"}};

// Pruned objects are not part of the bundle, and are counted apart.
constexpr Tally kTallies[] = {{"created", {"created"}},
                              {"changed", {"changed"}},
                              {"unchanged", {"unchanged"}},
                              {"failed", {"refused", "notReady"}},
                              {"not tried", {"notChecked", "blocked", "notSent", "leftOut"}}};

// What is not part of the bundle, or no longer: it is not in the tallies.
std::string others_text(const std::vector<Count>& counts, const Ending& ending) {
  uint64_t pruned = count_in({.words = "", .names = {"removed"}}, counts);
  std::string text = pruned == 0 ? "" : fmt::format("; {} pruned", with_commas(pruned));
  if (!ending.left.empty()) text += fmt::format("; {} no longer in the manifests", with_commas(ending.left.size()));
  return text;
}

// The sums that people read, for programs: the objects of the bundle, and those that failed or were not tried.
Json::Object sums_of(const std::vector<Count>& counts) {
  uint64_t objects = 0;
  for (const Tally& tally : kTallies) objects += count_in(tally, counts);
  return {{"objects", objects}, {"failed", count_in(kTallies[3], counts)}, {"notTried", count_in(kTallies[4], counts)}};
}

Json path_json(const std::vector<rollout::PathStep>& path) {
  Json::Array steps;
  for (const rollout::PathStep& step : path)
    steps.emplace_back(Json::Object{
        {"what", step.text}, {"reason", step.reason}, {"from", seconds(step.from)}, {"to", seconds(step.to)}});
  return steps;
}

// Returns the longest chain of waits. It is shown only if the run is done, something had to wait, and it took a second
// or more.
std::string path_text(const Ending& ending) {
  if (ending.how != Ending::How::done || ending.critical_path.size() < 2 || ending.took < std::chrono::seconds(1))
    return "";
  std::string path;
  for (const rollout::PathStep& step : ending.critical_path)
    path += fmt::format("{}{} {:.1f}s", path.empty() ? "" : " → ", step.text, seconds(step.to));
  return fmt::format("longest: {}\n", path);
}

std::string interruption_text(const Ending& ending) {
  if (ending.how != Ending::How::interrupted) return "";
  std::vector<object::Key> unready;
  for (const ObjectEnding& object : ending.objects)
    if (!object.ready && object.state != State::not_sent && object.state != State::blocked &&
        object.state != State::left_out && !object.error)
      unready.push_back(object.key);
  return "error: interrupted\n" + (unready.empty() ? "" : fmt::format("  not ready {}\n", some_of(unready)));
}

std::vector<Count> object_counts(const Ending& ending) {
  return counts_of(ending.objects, kCounted, [](State state) { return name_of(state); });
}

}  // namespace

std::string totals_text(const Ending& ending) {
  std::vector<Count> counts = object_counts(ending);
  return tallies_text(kTallies, counts) + others_text(counts, ending);
}

RolloutReport::RolloutReport(Loop& loop, const journal::Journal& journal, Settings settings, bool dry_run)
    : output_(settings.format, settings.requests, settings.out, settings.err, settings.prefix, settings.context),
      dry_run_(dry_run),
      display_(
          loop, journal, settings,
          std::make_unique<RolloutNarrator>(NarratorOptions{
              .all = settings.all, .dry_run = dry_run, .is_beside_live_view = settings.progress == Progress::live}),
          Board::Run::rollout) {}

void RolloutReport::read(const Event& event) {
  output_.stream(event);
  display_.read(event);
  if (github_) github_->warn(event);
}

void RolloutReport::finish(const Ending& ending) {
  display_.stop();
  std::vector<Count> counts = object_counts(ending);
  Json::Object more = sums_of(counts);
  more.append("criticalPath", path_json(ending.critical_path));
  more.append("left", keys_json(ending.left));
  Closing closing{.outcome = name_of(ending.how),
                  .dry_run = dry_run_,
                  .counts = counts,
                  .totals = tallies_text(kTallies, counts),
                  .took = ending.took,
                  .requests = ending.requests,
                  .causes = ending.causes,
                  .more = std::move(more),
                  .totals_end = others_text(counts, ending) +
                                (dry_run_ ? " (dry run: nothing was stored)\n" : "\n" + path_text(ending)),
                  .causes_end = interruption_text(ending)};
  if (output_.format() == Format::json)
    std::ranges::transform(ending.objects, std::back_inserter(closing.objects), json_of);
  output_.show(closing);
  if (github_)
    github_->finish(fmt::format("fairlead apply: {}", closing.outcome),
                    fmt::format("{} in {:.1f}s", closing.totals, seconds(closing.took)), ending.causes);
}

}  // namespace fairlead::report
