#include "cli/delete_output.h"

#include <algorithm>

namespace fairlead::cli {
namespace {

using journal::Event;
using journal::What;
using removal::Ending;
using removal::ObjectEnding;
using State = ObjectEnding::State;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// The line of an event that people want to see; empty for the others.
std::string line_of(const Event& event) {
  std::string subject = event.key.kind.empty() ? "" : event.key.text();
  switch (event.what) {
    case What::removed: return fmt::format("{} gone{}{}", subject, event.text.empty() ? "" : ": ", event.text);
    case What::progress: return event.state == "stuck" ? fmt::format("{} is stuck: {}", subject, event.text) : "";
    case What::note: return subject.empty() ? event.text : fmt::format("{}: {}", subject, event.text);
    case What::waiting: return "still waiting: " + event.text;
    default: return "";
  }
}

constexpr std::pair<State, std::string_view> kCounted[] = {
    {State::gone, "gone"},        {State::absent, "absent"},   {State::leaving, "leaving"},
    {State::would_go, "wouldGo"}, {State::refused, "refused"}, {State::remains, "remain"},
    {State::unknown, "unknown"},  {State::held, "held"},       {State::not_begun, "notBegun"}};

size_t count(const Ending& ending, State state) {
  return size_t(std::ranges::count(ending.objects, state, &ObjectEnding::state));
}

std::string_view words(State state) {
  switch (state) {
    case State::absent: return "not there";
    case State::leaving: return "on the way out";
    case State::would_go: return "would go";
    default: return removal::name_of(state);
  }
}

Json object_json(const ObjectEnding& object) {
  Json json(Json::Object{{"type", "object"},
                         {"group", object.key.group},
                         {"kind", object.key.kind},
                         {"namespace", object.key.ns},
                         {"name", object.key.name},
                         {"source", object.source},
                         {"outcome", name_of(object.state)}});
  if (object.error) json.make("error") = journal::to_json(*object.error);
  return json;
}

Json summary_json(const Ending& ending, removal::DryRun dry_run) {
  Json json(Json::Object{
      {"type", "summary"}, {"outcome", name_of(ending.how)}, {"dryRun", dry_run != removal::DryRun::none}});
  for (const auto& [state, name] : kCounted) json.make(name) = uint64_t{count(ending, state)};
  json.make("seconds") = seconds(ending.took);
  json.make("requests") = ending.requests;
  Json::Array causes;
  for (const removal::Cause& cause : ending.causes) causes.push_back(cause_json(cause.error, cause.holds));
  if (!causes.empty()) json.make("errors") = std::move(causes);
  return json;
}

void print_totals(const Ending& ending, removal::DryRun dry_run) {
  std::string text;
  for (const auto& [state, name] : kCounted)
    if (size_t n = count(ending, state)) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, words(state));
  if (text.empty()) text = "nothing done";
  std::printf("%s in %.1fs, with %lu requests%s\n", text.c_str(), seconds(ending.took), ending.requests,
              dry_run == removal::DryRun::none ? "" : " (dry run: nothing was removed)");
}

}  // namespace

void DeleteOutput::read(const Event& event) const {
  if (format_ == OutputFormat::jsonl) {
    if (event.what == What::ended) return;
    std::puts(to_json(event).dump().c_str());
    std::fflush(stdout);
  }
  if (format_ != OutputFormat::text && format_ != OutputFormat::quiet) return;
  std::string subject = event.key.kind.empty() ? "" : event.key.text() + ": ";
  if (event.what == What::warning || event.what == What::error) {
    std::string why = event.error ? ": " + event.error->message() : "";
    print_coloured(stderr, event.what, fmt::format("warning: {}{}{}", subject, event.text, why));
    return;
  }
  if (format_ == OutputFormat::quiet) return;
  std::string line = line_of(event);
  if (line.empty()) return;
  print_coloured(stdout, event.what, line);
  std::fflush(stdout);
}

void DeleteOutput::finish(const Ending& ending) const {
  if (format_ == OutputFormat::jsonl) std::puts(summary_json(ending, dry_run_).dump().c_str());
  if (format_ == OutputFormat::json) {
    Json::Array objects;
    for (const ObjectEnding& object : ending.objects) objects.push_back(object_json(object));
    Json document(Json::Object{{"objects", std::move(objects)}, {"summary", summary_json(ending, dry_run_)}});
    std::fputs(document.pretty().c_str(), stdout);
  }
  if (format_ == OutputFormat::text) print_totals(ending, dry_run_);
  std::fflush(stdout);
  if (format_ != OutputFormat::text && format_ != OutputFormat::quiet) return;
  for (const removal::Cause& cause : ending.causes) print_cause(cause.error, cause.holds);
  if (ending.how == Ending::How::interrupted) std::fputs("error: interrupted\n", stderr);
  if (ending.how == Ending::How::declined) std::fputs("error: nothing was removed: the answer was no\n", stderr);
}

}  // namespace fairlead::cli
