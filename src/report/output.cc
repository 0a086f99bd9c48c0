#include "report/output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/printable.h"

namespace fairlead::report {
namespace {

using journal::Event;
using journal::EventKind;

constexpr size_t kNamedBlocked = 3;

std::string_view colour_of(EventKind what) {
  switch (what) {
    case EventKind::ready: return "\033[32m";
    case EventKind::failed: return "\033[31m";
    case EventKind::warning:
    case EventKind::error:
    case EventKind::progress: return "\033[33m";
    case EventKind::parked:
    case EventKind::guard:
    case EventKind::waiting:
    case EventKind::note: return "\033[2m";
    default: return "";
  }
}

void write(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

void print_line(std::FILE* stream, EventKind what, std::string_view line) {
  std::string_view colour = colour_of(what);
  bool paint = !colour.empty() && can_paint(stream);
  write(stream, fmt::format("{}{}{}\n", paint ? colour : "", printable_line(line), paint ? "\033[0m" : ""));
  std::fflush(stream);
}

// A cancelled request only says that the run was interrupted, which is reported anyway.
bool is_interruption(const journal::Cause& cause) { return cause.error.root().kind() == ErrorKind::cancelled; }

Json summary_of(const Closing& closing) {
  Json json(Json::Object{{"type", "summary"}, {"outcome", closing.outcome}, {"dryRun", closing.dry_run}});
  for (const Count& one : closing.counts) json.make(one.name) = uint64_t{one.count};
  json.make("seconds") = seconds(closing.took);
  json.make("requests") = closing.requests;
  for (const auto& [name, value] : closing.more) json.make(name) = value;
  Json::Array causes;
  for (const journal::Cause& cause : closing.causes)
    if (!is_interruption(cause)) causes.push_back(journal::to_json(cause));
  if (!causes.empty()) json.make("errors") = std::move(causes);
  return json;
}

std::string totals_of(const Closing& closing) {
  std::string text;
  for (const Count& one : closing.counts)
    if (one.count) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.count, one.words);
  if (text.empty()) text = "nothing done";
  return fmt::format("{} in {:.1f}s, with {} requests", text, seconds(closing.took), closing.requests);
}

}  // namespace

bool can_paint(std::FILE* stream) {
  const char* terminal = std::getenv("TERM");
  bool is_dumb = !terminal || std::string_view(terminal) == "dumb";
  return ::isatty(::fileno(stream)) && !is_dumb && !std::getenv("NO_COLOR");
}

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string some_of(const std::vector<object::Key>& keys, size_t named) {
  std::string text;
  for (size_t i = 0; i < std::min(keys.size(), named); ++i) text += (i == 0 ? "" : ", ") + keys[i].text();
  if (keys.size() > named) text += fmt::format(" and {} more", keys.size() - named);
  return text;
}

Json object_json(const object::Key& key, const std::string& source, std::string_view outcome) {
  return Json::Object{{"type", "object"}, {"group", key.group}, {"kind", key.kind},  {"namespace", key.ns},
                      {"name", key.name}, {"source", source},   {"outcome", outcome}};
}

Format format_of(std::string_view name) {
  if (name == "json") return Format::json;
  if (name == "jsonl") return Format::jsonl;
  return name == "quiet" ? Format::quiet : Format::text;
}

void print(std::FILE* stream, std::string_view text) {
  write(stream, printable(text));
  std::fflush(stream);
}

void Output::show(const Event& event, std::string_view line) const {
  // The summary reports how the run ended.
  if (format_ == Format::jsonl && event.kind != EventKind::ended) {
    write(out_, to_json(event).dump() + "\n");
    std::fflush(out_);
  }
  if (!is_for_people() || line.empty()) return;
  if (event.kind == EventKind::warning || event.kind == EventKind::error) print_line(err_, event.kind, line);
  else if (format_ == Format::text) print_line(out_, event.kind, line);
}

void Output::show(const Closing& closing) const {
  if (format_ == Format::jsonl) write(out_, summary_of(closing).dump() + "\n");
  if (format_ == Format::json) {
    Json document(Json::Object{{"objects", closing.objects}, {"summary", summary_of(closing)}});
    write(out_, document.pretty());
  }
  if (format_ == Format::text) print(out_, totals_of(closing) + closing.totals_end);
  std::fflush(out_);
  if (!is_for_people()) return;
  for (const journal::Cause& cause : closing.causes) {
    if (is_interruption(cause)) continue;
    print(err_, cause.error.report());
    if (!cause.blocks.empty())
      print(err_, fmt::format("  blocks    {} object{}: {}\n", cause.blocks.size(), cause.blocks.size() == 1 ? "" : "s",
                              some_of(cause.blocks, kNamedBlocked)));
  }
  print(err_, closing.causes_end);
}

}  // namespace fairlead::report
