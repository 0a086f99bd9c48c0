#include "journal/journal.h"

#include <fmt/chrono.h>

#include <algorithm>

namespace fairlead::journal {

std::string_view name_of(EventKind kind) {
  switch (kind) {
    case EventKind::started: return "started";
    case EventKind::note: return "note";
    case EventKind::warning: return "warning";
    case EventKind::stored: return "stored";
    case EventKind::parked: return "parked";
    case EventKind::progress: return "progress";
    case EventKind::ready: return "ready";
    case EventKind::failed: return "failed";
    case EventKind::guard: return "guard";
    case EventKind::waiting: return "waiting";
    case EventKind::removed: return "removed";
    case EventKind::log: return "log";
    case EventKind::error: return "error";
    case EventKind::graph: return "graph";
    case EventKind::ended: return "ended";
  }
  return "";
}

void Journal::add(Event event) {
  event.at = elapsed();
  if (!secrets_.empty()) {
    event.text = secrets_.without(event.text);
    if (event.error) event.error = secrets_.without(*event.error);
  }
  for (const Reading& reading : readers_)
    if (event.kind != EventKind::graph || reading.detail == Detail::full) reading.reader(event);
}

std::string Journal::time_text() const {
  return fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(clock_.wall_now()));
}

bool Journal::is_detailed() const {
  return std::ranges::any_of(readers_, [](const Reading& reading) { return reading.detail == Detail::full; });
}

Json to_json(const Error& error) {
  Json json(Json::Object{{"what", error.what()}});
  Json::Array causes;
  for (const Error* cause = error.cause(); cause; cause = cause->cause()) causes.emplace_back(cause->what());
  json.make("because") = std::move(causes);
  if (!error.where().empty()) json.make("from") = error.where();
  if (!error.next().empty()) json.make("next") = error.next();
  return json;
}

void conceal(const Secrets& secrets, Cause& cause) {
  cause.error = secrets.without(cause.error);
  for (Finding& finding : cause.findings)
    for (std::string& line : finding.lines) line = secrets.without(line);
}

Json to_json(const Cause& cause) {
  Json json = to_json(cause.error);
  Json::Array names;
  for (const object::Key& key : cause.blocks) names.emplace_back(key.text());
  if (!names.empty()) json.make("blocks") = std::move(names);
  Json::Array findings;
  for (const Finding& finding : cause.findings)
    findings.push_back(Json::Object{{"kind", finding.kind},
                                    {"about", finding.about},
                                    {"lines", Json::Array(finding.lines.begin(), finding.lines.end())}});
  if (!findings.empty()) json.make("findings") = std::move(findings);
  return json;
}

Json to_json(const Event& event) {
  Json json(Json::Object{{"event", name_of(event.kind)}, {"seconds", std::chrono::duration<double>(event.at).count()}});
  if (event.kind == EventKind::started) json.make("schemaVersion") = kSchemaVersion;
  if (!event.key.kind.empty()) {
    Json object(Json::Object{{"group", event.key.group}, {"kind", event.key.kind}});
    if (!event.key.ns.empty()) object.make("namespace") = event.key.ns;
    object.make("name") = event.key.name;
    if (!event.source.empty()) object.make("source") = event.source;
    json.make("object") = std::move(object);
  }
  if (!event.state.empty()) json.make("state") = event.state;
  if (!event.text.empty()) json.make("text") = event.text;
  if (event.error) json.make("error") = to_json(*event.error);
  if (!event.details.is_null()) json.make("details") = event.details;
  return json;
}

}  // namespace fairlead::journal
