#include "journal/reader.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fairlead::journal {
namespace {

constexpr std::array kKinds = {EventKind::started, EventKind::note,     EventKind::warning, EventKind::stored,
                               EventKind::parked,  EventKind::progress, EventKind::ready,   EventKind::failed,
                               EventKind::guard,   EventKind::waiting,  EventKind::removed, EventKind::log,
                               EventKind::error,   EventKind::graph,    EventKind::ended};

// No run takes longer. A time beyond it cannot be represented in every place that computes with it.
constexpr double kMostSeconds = 1e8;
// Each cause is nested in the one before it, and a chain that is too long would exhaust the stack.
constexpr size_t kMostCauses = 100;

Result<Duration> time_of(const Json& seconds) {
  double value = -1;
  if (const double* number = seconds.if_double()) value = *number;
  else if (const int64_t* whole = seconds.if_int64()) value = double(*whole);
  if (!std::isfinite(value) || value < 0 || value > kMostSeconds)
    return fail(ErrorKind::invalid, "its member `seconds` is no time since the beginning of a run");
  return std::chrono::round<Duration>(std::chrono::duration<double>(value));
}

std::optional<Error> error_of(const Json& json) {
  const std::string* what = json["what"].if_string();
  if (!what) return std::nullopt;
  std::optional<Error> cause;
  const Json::Array& causes = json["because"].items();
  for (size_t i = std::min(causes.size(), kMostCauses); i > 0; --i) {
    Error next(ErrorKind::internal, std::string(causes[i - 1].string_or("")));
    cause = cause ? std::move(next).because(*std::move(cause)) : std::move(next);
  }
  Error error(ErrorKind::internal, *what);
  if (cause) error = std::move(error).because(*std::move(cause));
  if (std::string_view from = json["from"].string_or(""); !from.empty()) error = std::move(error).at(std::string(from));
  if (std::string_view next = json["next"].string_or(""); !next.empty())
    error = std::move(error).next(std::string(next));
  return error;
}

Result<Event> ended_of(const Json& summary) {
  Event event{.kind = EventKind::ended};
  TRY_ASSIGN(event.at, time_of(summary["seconds"]));
  event.state = summary["outcome"].string_or("");
  event.details = summary;
  return event;
}

void set_kind(Event& event, std::string_view name) {
  auto found = std::ranges::find(kKinds, name, [](EventKind kind) { return name_of(kind); });
  event.kind = found == kKinds.end() ? EventKind::note : *found;
  if (found == kKinds.end() && event.state.empty()) event.state = name;
}

}  // namespace

Result<Event> event_of(const Json& line) {
  if (line["type"].string_or("") == "summary") return ended_of(line);
  const std::string* name = line["event"].if_string();
  if (!name) return fail(ErrorKind::invalid, "it has no member `event`");
  Event event;
  TRY_ASSIGN(event.at, time_of(line["seconds"]));
  const Json& object = line["object"];
  event.key = {.group = std::string(object["group"].string_or("")),
               .kind = std::string(object["kind"].string_or("")),
               .ns = std::string(object["namespace"].string_or("")),
               .name = std::string(object["name"].string_or(""))};
  event.source = object["source"].string_or("");
  event.state = line["state"].string_or("");
  event.text = line["text"].string_or("");
  event.error = error_of(line["error"]);
  event.details = line["details"];
  set_kind(event, *name);
  return event;
}

Result<Recording> read_journal(std::string_view text, const std::string& name) {
  Recording recording;
  for (size_t at = 0, number = 1; at < text.size(); ++number) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Result<Json> json = Json::parse(line);
    // The writer ends each line with a newline, so a last line without one was not written to its end.
    if (!json && end == text.size()) {
      recording.is_cut_off = true;
      break;
    }
    Result<Event> event = json ? event_of(*json) : fail(json.error());
    if (!event)
      return fail(Error(ErrorKind::invalid, fmt::format("{} is not a journal of Fairlead", name))
                      .because(fmt::format("line {} is no event: {}", number, event.error().message()))
                      .at(fmt::format("{}:{}", name, number))
                      .next("fairlead apply … --journal FILE writes one"));
    recording.has_ended = recording.has_ended || event->kind == EventKind::ended;
    recording.events.push_back(*std::move(event));
  }
  if (recording.events.empty())
    return fail(Error(ErrorKind::invalid, fmt::format("{} holds no events", name))
                    .because(recording.is_cut_off ? "its first line is not complete" : "it is empty")
                    .next("fairlead apply … --journal FILE writes one"));
  return recording;
}

}  // namespace fairlead::journal
