#include "cli/apply_output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fairlead::cli {
namespace {

using journal::Event;
using journal::What;
using rollout::Ending;
using rollout::ObjectEnding;
using State = ObjectEnding::State;

constexpr size_t kNamed = 5;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string_view colour_of(What what) {
  switch (what) {
    case What::ready: return "\033[32m";
    case What::failed: return "\033[31m";
    case What::warning:
    case What::error:
    case What::progress: return "\033[33m";
    case What::parked:
    case What::guard:
    case What::waiting:
    case What::note: return "\033[2m";
    default: return "";
  }
}

// The line of an event that people want to see; empty for the others.
std::string line_of(const Event& event, bool dry_run) {
  std::string subject = event.key.text();
  if (event.key.kind.empty()) subject = event.details["guard"].string_or("");
  switch (event.what) {
    case What::stored:
      return event.state == "unchanged" ? ""
                                        : fmt::format("{} {}{}", subject, event.state, dry_run ? " (dry run)" : "");
    case What::parked: return fmt::format("{} waits: {}", subject, event.text);
    case What::progress:
      if (event.state == "stuck") return fmt::format("{} is stuck: {}", subject, event.text);
      return event.state == "trouble" ? fmt::format("{} is not ready: {}", subject, event.text) : "";
    case What::guard: return fmt::format("{} is {}: {}", subject, event.state, event.text);
    case What::removed: return fmt::format("{} removed", subject);
    case What::note: return subject.empty() ? event.text : fmt::format("{}: {}", subject, event.text);
    case What::waiting: return event.text.empty() ? "" : "still waiting: " + event.text;
    default: return "";
  }
}

Json object_json(const ObjectEnding& object) {
  Json json(Json::Object{{"type", "object"},
                         {"group", object.key.group},
                         {"kind", object.key.kind},
                         {"namespace", object.key.ns},
                         {"name", object.key.name},
                         {"source", object.source},
                         {"outcome", name_of(object.state)},
                         {"ready", object.ready}});
  if (!object.warnings.empty()) json.make("warnings") = Json::Array(object.warnings.begin(), object.warnings.end());
  if (object.error) json.make("error") = journal::to_json(*object.error);
  return json;
}

constexpr std::pair<State, std::string_view> kCounted[] = {
    {State::created, "created"}, {State::changed, "changed"}, {State::unchanged, "unchanged"},
    {State::removed, "removed"}, {State::refused, "refused"}, {State::not_ready, "notReady"},
    {State::held, "held"},       {State::not_sent, "notSent"}};

size_t count(const Ending& ending, State state) {
  return size_t(std::ranges::count(ending.objects, state, &ObjectEnding::state));
}

Json path_json(const std::vector<rollout::PathStep>& path) {
  Json::Array steps;
  for (const rollout::PathStep& step : path)
    steps.emplace_back(Json::Object{
        {"what", step.text}, {"reason", step.reason}, {"from", seconds(step.from)}, {"to", seconds(step.to)}});
  return steps;
}

Json summary_json(const Ending& ending, bool dry_run) {
  Json json(Json::Object{{"type", "summary"}, {"outcome", name_of(ending.how)}, {"dryRun", dry_run}});
  for (const auto& [state, name] : kCounted) json.make(name) = uint64_t{count(ending, state)};
  json.make("seconds") = seconds(ending.took);
  json.make("requests") = ending.requests;
  json.make("criticalPath") = path_json(ending.critical_path);
  Json::Array causes;
  for (const rollout::Cause& cause : ending.causes) causes.push_back(cause_json(cause.error, cause.holds));
  if (!causes.empty()) json.make("errors") = std::move(causes);
  return json;
}

std::string some_of(const std::vector<object::Key>& keys) {
  std::string text;
  for (size_t i = 0; i < std::min(keys.size(), kNamed); ++i) text += (i == 0 ? "" : ", ") + keys[i].text();
  if (keys.size() > kNamed) text += fmt::format(" and {} more", keys.size() - kNamed);
  return text;
}

void print_causes(const Ending& ending) {
  for (const rollout::Cause& cause : ending.causes) print_cause(cause.error, cause.holds);
  if (ending.how != Ending::How::interrupted) return;
  std::fputs("error: interrupted\n", stderr);
  std::vector<object::Key> unready;
  for (const ObjectEnding& object : ending.objects)
    if (!object.ready && object.state != State::not_sent && object.state != State::held && !object.error)
      unready.push_back(object.key);
  if (!unready.empty()) std::fprintf(stderr, "  not ready %s\n", some_of(unready).c_str());
}

void print_totals(const Ending& ending, bool dry_run) {
  std::string text;
  for (const auto& [state, name] : kCounted)
    if (size_t n = count(ending, state))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, rollout::name_of(state));
  if (text.empty()) text = "nothing done";
  std::printf("%s in %.1fs, with %lu requests%s\n", text.c_str(), seconds(ending.took), ending.requests,
              dry_run ? " (dry run: nothing was stored)" : "");
  // What took longest is worth a line where something had to wait, and came to its end.
  if (ending.how != Ending::How::done || ending.critical_path.size() < 2 || ending.took < std::chrono::seconds(1))
    return;
  std::string path;
  for (const rollout::PathStep& step : ending.critical_path)
    path += fmt::format("{}{} {:.1f}s", path.empty() ? "" : " → ", step.text, seconds(step.to));
  std::printf("longest: %s\n", path.c_str());
}

}  // namespace

void print_coloured(std::FILE* stream, What what, const std::string& line) {
  std::string_view colour = colour_of(what);
  bool paint = !colour.empty() && ::isatty(::fileno(stream)) && !std::getenv("NO_COLOR");
  if (paint) std::fprintf(stream, "%.*s%s\033[0m\n", int(colour.size()), colour.data(), line.c_str());
  else std::fprintf(stream, "%s\n", line.c_str());
}

void print_cause(const Error& error, const std::vector<object::Key>& holds) {
  std::fputs(error.report().c_str(), stderr);
  if (!holds.empty()) std::fprintf(stderr, "  holds     %s\n", some_of(holds).c_str());
}

Json cause_json(const Error& error, const std::vector<object::Key>& holds) {
  Json json = journal::to_json(error);
  Json::Array names;
  for (const object::Key& key : holds) names.emplace_back(key.text());
  if (!names.empty()) json.make("holds") = std::move(names);
  return json;
}

OutputFormat output_format(std::string_view name) {
  if (name == "json") return OutputFormat::json;
  if (name == "jsonl") return OutputFormat::jsonl;
  return name == "quiet" ? OutputFormat::quiet : OutputFormat::text;
}

void ApplyOutput::read(const Event& event) {
  if (format_ == OutputFormat::jsonl) {
    if (event.what == What::ended) return;
    Json json = to_json(event);
    std::puts(json.dump().c_str());
    std::fflush(stdout);
  }
  if (format_ == OutputFormat::text || format_ == OutputFormat::quiet) print_line(event);
}

void ApplyOutput::print_line(const Event& event) {
  if (event.what == What::warning) {
    std::string subject = event.key.kind.empty() ? "" : event.key.text() + ": ";
    std::string text = fmt::format("warning: {}{}", subject, event.text);
    if (event.error && !event.error->where().empty()) text += "\n  from      " + event.error->where();
    if (event.error && !event.error->next().empty()) text += "\n  next      " + event.error->next();
    print_coloured(stderr, event.what, text);
    return;
  }
  if (format_ == OutputFormat::quiet) return;
  if (event.what == What::parked && !told_.insert(event.text).second) return;
  std::string line = line_of(event, dry_run_);
  if (line.empty()) return;
  print_coloured(stdout, event.what, line);
  std::fflush(stdout);
}

void ApplyOutput::finish(const Ending& ending) const {
  if (format_ == OutputFormat::jsonl) std::puts(summary_json(ending, dry_run_).dump().c_str());
  if (format_ == OutputFormat::json) {
    Json::Array objects;
    for (const ObjectEnding& object : ending.objects) objects.push_back(object_json(object));
    Json document(Json::Object{{"objects", std::move(objects)}, {"summary", summary_json(ending, dry_run_)}});
    std::fputs(document.pretty().c_str(), stdout);
  }
  if (format_ == OutputFormat::text) print_totals(ending, dry_run_);
  std::fflush(stdout);
  if (format_ == OutputFormat::text || format_ == OutputFormat::quiet) print_causes(ending);
}

Result<std::unique_ptr<JournalFile>> JournalFile::open(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (!file)
    return fail(
        Error(ErrorKind::invalid, fmt::format("the journal {} cannot be written", path)).because(std::strerror(errno)));
  return std::unique_ptr<JournalFile>(new JournalFile(file));
}

JournalFile::~JournalFile() { std::fclose(file_); }

void JournalFile::read(const Event& event) {
  std::string line = to_json(event).dump() + "\n";
  std::fwrite(line.data(), 1, line.size(), file_);
  std::fflush(file_);
}

}  // namespace fairlead::cli
