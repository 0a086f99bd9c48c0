#include "report/removal_report.h"

#include <algorithm>

namespace fairlead::report {
namespace {

using journal::Event;
using journal::EventKind;
using removal::Ending;
using removal::ObjectEnding;
using State = ObjectEnding::State;

// Returns the line that people see, or an empty text if they see nothing of this event.
std::string line_of(const Event& event) {
  std::string subject = event.key.kind.empty() ? "" : event.key.text();
  switch (event.kind) {
    case EventKind::removed: return fmt::format("{} gone{}{}", subject, event.text.empty() ? "" : ": ", event.text);
    case EventKind::progress: return event.state == "stuck" ? fmt::format("{} is stuck: {}", subject, event.text) : "";
    case EventKind::note: return subject.empty() ? event.text : fmt::format("{}: {}", subject, event.text);
    case EventKind::waiting: return "still waiting: " + event.text;
    case EventKind::warning:
    case EventKind::error:
      return fmt::format("warning: {}{}{}{}", subject, subject.empty() ? "" : ": ", event.text,
                         event.error ? ": " + event.error->message() : "");
    default: return "";
  }
}

constexpr std::pair<State, std::string_view> kCounted[] = {{State::gone, "gone"},       {State::absent, "absent"},
                                                           {State::leaving, "leaving"}, {State::would_go, "wouldGo"},
                                                           {State::kept, "kept"},       {State::refused, "refused"},
                                                           {State::remains, "remain"},  {State::unknown, "unknown"},
                                                           {State::blocked, "blocked"}, {State::not_begun, "notBegun"}};

std::string_view words(State state) {
  switch (state) {
    case State::absent: return "not there";
    case State::leaving: return "on the way out";
    case State::would_go: return "would go";
    default: return removal::name_of(state);
  }
}

Json json_of(const ObjectEnding& object) {
  Json json = object_json(object.key, object.source, name_of(object.state));
  if (object.error) json.make("error") = journal::to_json(*object.error);
  return json;
}

std::string_view last_word(Ending::How how) {
  if (how == Ending::How::interrupted) return "error: interrupted\n";
  return how == Ending::How::declined ? "error: nothing was removed: the answer was no\n" : "";
}

}  // namespace

void RemovalReport::read(const Event& event) const { output_.show(event, line_of(event)); }

void RemovalReport::finish(const Ending& ending) const {
  bool is_dry = dry_run_ != removal::DryRun::none;
  Closing closing{.outcome = name_of(ending.how),
                  .dry_run = is_dry,
                  .counts = counts_of(ending.objects, kCounted, words),
                  .took = ending.took,
                  .requests = ending.requests,
                  .causes = ending.causes,
                  .totals_end = is_dry ? " (dry run: nothing was removed)\n" : "\n",
                  .causes_end = std::string(last_word(ending.how))};
  if (output_.format() == Format::json)
    std::ranges::transform(ending.objects, std::back_inserter(closing.objects), json_of);
  output_.show(closing);
}

}  // namespace fairlead::report
