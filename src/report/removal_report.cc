#include "report/removal_report.h"

#include <algorithm>

namespace fairlead::report {
namespace {

using journal::Event;
using removal::Ending;
using removal::ObjectEnding;
using State = ObjectEnding::State;

constexpr std::pair<State, std::string_view> kCounted[] = {{State::gone, "gone"},       {State::absent, "absent"},
                                                           {State::leaving, "leaving"}, {State::would_go, "wouldGo"},
                                                           {State::kept, "kept"},       {State::refused, "refused"},
                                                           {State::remains, "remain"},  {State::unknown, "unknown"},
                                                           {State::blocked, "blocked"}, {State::not_begun, "notBegun"}};

std::string_view words(State state) {
  switch (state) {
    case State::gone: return "deleted";
    case State::absent: return "not found";
    case State::leaving: return "being deleted";
    case State::would_go: return "would be deleted";
    case State::remains: return "still there";
    case State::unknown: return "state unknown";
    case State::not_begun: return "not begun";
    default: return removal::name_of(state);
  }
}

constexpr Tally kTallies[] = {{"deleted", {"gone"}},
                              {"not found", {"absent"}},
                              {"being deleted", {"leaving"}},
                              {"would be deleted", {"wouldGo"}},
                              {"kept", {"kept"}},
                              {"failed", {"refused", "remain", "unknown"}},
                              {"not tried", {"blocked", "notBegun"}}};

Json json_of(const ObjectEnding& object) {
  Json json = object_json(object.key, object.source, name_of(object.state));
  if (object.error) json.make("error") = journal::to_json(*object.error);
  return json;
}

std::string_view last_word(Ending::How how) {
  if (how == Ending::How::interrupted) return "error: interrupted\n";
  return how == Ending::How::declined ? "error: nothing was deleted: the answer was no\n" : "";
}

}  // namespace

std::string totals_text(const Ending& ending) {
  if (ending.objects.empty() && !ending.causes.empty()) return "nothing was deleted";
  return tallies_text(kTallies, counts_of(ending.objects, kCounted, words));
}

RemovalReport::RemovalReport(Loop& loop, const journal::Journal& journal, Settings settings, removal::DryRun dry_run)
    : output_(settings.format, settings.requests, settings.out, settings.err, settings.prefix, settings.context),
      dry_run_(dry_run),
      display_(loop, journal, settings,
               std::make_unique<RemovalNarrator>(
                   NarratorOptions{.all = settings.all,
                                   .dry_run = dry_run != removal::DryRun::none,
                                   .is_beside_live_view = settings.progress == Progress::live}),
               Board::Run::removal) {}

void RemovalReport::read(const Event& event) {
  output_.stream(event);
  display_.read(event);
  if (github_) github_->warn(event);
}

void RemovalReport::finish(const Ending& ending) {
  display_.stop();
  bool is_dry = dry_run_ != removal::DryRun::none;
  std::vector<Count> counts = counts_of(ending.objects, kCounted, words);
  Closing closing{.outcome = name_of(ending.how),
                  .dry_run = is_dry,
                  .counts = counts,
                  .totals = totals_text(ending),
                  .took = ending.took,
                  .requests = ending.requests,
                  .causes = ending.causes,
                  .more = {{"objects", uint64_t{ending.objects.size()}},
                           {"failed", count_in(kTallies[5], counts)},
                           {"notTried", count_in(kTallies[6], counts)}},
                  .totals_end = is_dry ? " (dry run: nothing was deleted)\n" : "\n",
                  .causes_end = std::string(last_word(ending.how))};
  if (output_.format() == Format::json)
    std::ranges::transform(ending.objects, std::back_inserter(closing.objects), json_of);
  output_.show(closing);
  if (github_)
    github_->finish(fmt::format("fairlead delete: {}", closing.outcome),
                    fmt::format("{} in {:.1f}s", closing.totals, seconds(closing.took)), ending.causes);
}

}  // namespace fairlead::report
