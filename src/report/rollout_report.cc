#include "report/rollout_report.h"

#include <algorithm>

namespace fairlead::report {
namespace {

using journal::Event;
using journal::EventKind;
using rollout::Ending;
using rollout::ObjectEnding;
using State = ObjectEnding::State;

std::string warning_of(const Event& event) {
  std::string subject = event.key.kind.empty() ? "" : event.key.text() + ": ";
  std::string text = fmt::format("warning: {}{}", subject, event.text);
  if (event.error && !event.error->where().empty()) text += "\n  from      " + event.error->where();
  if (event.error && !event.error->next().empty()) text += "\n  next      " + event.error->next();
  return text;
}

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

}  // namespace

// Returns the line that people see, or an empty text if they see nothing of this event.
std::string RolloutReport::line_of(const Event& event) {
  std::string subject = event.key.text();
  if (event.key.kind.empty()) subject = event.details["guard"].string_or("");
  switch (event.kind) {
    case EventKind::stored:
      return event.state == "unchanged" ? ""
                                        : fmt::format("{} {}{}", subject, event.state, dry_run_ ? " (dry run)" : "");
    case EventKind::parked:
      return told_.insert(event.text).second ? fmt::format("{} waits: {}", subject, event.text) : "";
    case EventKind::progress:
      if (event.state == "stuck") return fmt::format("{} is stuck: {}", subject, event.text);
      return event.state == "trouble" ? fmt::format("{} is not ready: {}", subject, event.text) : "";
    case EventKind::guard: return fmt::format("{} is {}: {}", subject, event.state, event.text);
    case EventKind::removed: return fmt::format("{} removed", subject);
    case EventKind::note: return subject.empty() ? event.text : fmt::format("{}: {}", subject, event.text);
    case EventKind::waiting: return event.text.empty() ? "" : "still waiting: " + event.text;
    case EventKind::warning: return warning_of(event);
    default: return "";
  }
}

void RolloutReport::read(const Event& event) { output_.show(event, line_of(event)); }

void RolloutReport::finish(const Ending& ending) const {
  Closing closing{.outcome = name_of(ending.how),
                  .dry_run = dry_run_,
                  .counts = counts_of(ending.objects, kCounted, [](State state) { return name_of(state); }),
                  .took = ending.took,
                  .requests = ending.requests,
                  .causes = ending.causes,
                  .more = {{"criticalPath", path_json(ending.critical_path)}},
                  .totals_end = (dry_run_ ? " (dry run: nothing was stored)\n" : "\n") + path_text(ending),
                  .causes_end = interruption_text(ending)};
  if (output_.format() == Format::json)
    std::ranges::transform(ending.objects, std::back_inserter(closing.objects), json_of);
  output_.show(closing);
}

}  // namespace fairlead::report
