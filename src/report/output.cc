#include "report/output.h"

#include <algorithm>

#include "base/printable.h"
#include "report/github.h"
#include "report/internal/words.h"
#include "report/program_name.h"
#include "report/terminal.h"

namespace fairlead::report {
namespace {

using journal::Event;
using journal::EventKind;

constexpr size_t kNamedBlocked = 3;

void write(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

// What a container wrote is in a column of its own, so that it cannot be taken for a line of ours.
std::string finding_text(const journal::Finding& finding) {
  bool is_log = finding.kind == "log";
  std::string text = is_log ? fmt::format("  log       {}, its last lines:\n", finding.about) : "";
  for (const std::string& line : finding.lines)
    text += is_log ? fmt::format("            | {}\n", printable_line(line))
                   : fmt::format("  event     {}\n", printable_line(line));
  return text;
}

// A cancelled request only says that the run was interrupted, which is reported anyway.
bool is_interruption(const journal::Cause& cause) { return cause.error.root().kind() == ErrorKind::cancelled; }

std::string totals_of(const Closing& closing, bool with_requests) {
  std::string text = fmt::format("{} in {:.1f}s", closing.totals, seconds(closing.took));
  if (with_requests) text += fmt::format(", with {} requests", closing.requests);
  return text;
}

}  // namespace

bool can_paint(std::FILE* stream) { return has_colours(::fileno(stream)); }

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Json keys_json(const std::vector<object::Key>& keys) {
  Json::Array texts;
  for (const object::Key& key : keys) texts.emplace_back(key.text());
  return texts;
}

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
  static const bool kIsOnGithub = Github::from_environment().has_value();
  std::string shown = with_next_commands_named(printable(text));
  write(stream, kIsOnGithub ? without_commands(shown) : shown);
  std::fflush(stream);
}

uint64_t count_in(const Tally& tally, const std::vector<Count>& counts) {
  uint64_t sum = 0;
  for (const Count& one : counts)
    if (std::ranges::find(tally.names, one.name) != tally.names.end()) sum += one.count;
  return sum;
}

std::string tallies_text(std::span<const Tally> tallies, const std::vector<Count>& counts) {
  std::string text;
  uint64_t objects = 0;
  size_t different = 0;
  for (const Tally& tally : tallies) {
    uint64_t sum = count_in(tally, counts);
    if (sum == 0) continue;
    objects += sum;
    text += fmt::format("{}{} {}", different++ == 0 ? "" : ", ", with_commas(sum), tally.words);
    std::string parts;
    for (const Count& one : counts) {
      bool says_more =
          one.count > 0 && one.words != tally.words && std::ranges::find(tally.names, one.name) != tally.names.end();
      if (!says_more) continue;
      std::string number = one.count == sum ? "" : with_commas(one.count) + " ";
      parts += fmt::format("{}{}{}", parts.empty() ? "" : ", ", number, one.words);
    }
    if (!parts.empty()) text += fmt::format(" ({})", parts);
  }
  if (different == 0) return "nothing to do";
  return different == 1 ? text : fmt::format("{} objects: {}", with_commas(objects), text);
}

void Output::stream(const Event& event) const {
  // The summary reports how the run ended, and only files have the graph.
  if (format_ != Format::jsonl || event.kind == EventKind::ended || event.kind == EventKind::graph) return;
  Json json = to_json(event);
  if (!context_.empty()) json.make("details").make("context") = context_;
  write(out_, json.dump() + "\n");
  std::fflush(out_);
}

std::string cause_text(const journal::Cause& cause) {
  std::string text = cause.error.report();
  if (!cause.blocks.empty())
    text += fmt::format("  blocks    {} object{}: {}\n", cause.blocks.size(), cause.blocks.size() == 1 ? "" : "s",
                        some_of(cause.blocks, kNamedBlocked));
  for (const journal::Finding& finding : cause.findings) text += finding_text(finding);
  return text;
}

namespace {
bool& results_were_shown() {
  static bool were_shown = false;
  return were_shown;
}
}  // namespace

bool has_shown_results() { return results_were_shown(); }

void claim_results() { results_were_shown() = true; }

std::string with_prefix(std::string_view text, std::string_view prefix) {
  std::string prefixed;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    prefixed += prefix;
    prefixed += text.substr(0, end);
    text.remove_prefix(end);
  }
  return prefixed;
}

void Output::print_lines(std::FILE* stream, std::string_view text) const {
  print(stream, with_prefix(with_next_commands_named(std::string(text)), prefix_));
}

Json Output::summary_of(const Closing& closing) const {
  Json json(Json::Object{{"type", "summary"}, {"outcome", closing.outcome}, {"dryRun", closing.dry_run}});
  json.make("schemaVersion") = journal::kSchemaVersion;
  if (!context_.empty()) json.make("context") = context_;
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

void Output::show(const Closing& closing) const {
  claim_results();
  if (format_ == Format::jsonl) write(out_, summary_of(closing).dump() + "\n");
  if (format_ == Format::json) {
    Json document(Json::Object{
        {"schemaVersion", journal::kSchemaVersion}, {"objects", closing.objects}, {"summary", summary_of(closing)}});
    write(out_, document.pretty());
  }
  if (format_ == Format::text) print_lines(out_, totals_of(closing, shows_requests_) + closing.totals_end);
  std::fflush(out_);
  if (!is_for_people()) return;
  for (const journal::Cause& cause : closing.causes)
    if (!is_interruption(cause)) print_lines(err_, cause_text(cause));
  print_lines(err_, closing.causes_end);
}

std::string error_text(Format format, const std::vector<Error>& errors, std::string_view outcome) {
  Json::Array causes;
  for (const Error& error : errors) causes.push_back(journal::to_json(error));
  Json summary(Json::Object{{"type", "summary"},
                            {"outcome", outcome},
                            {"schemaVersion", journal::kSchemaVersion},
                            {"errors", std::move(causes)}});
  if (format == Format::jsonl) return summary.dump() + "\n";
  return Json(Json::Object{{"schemaVersion", journal::kSchemaVersion}, {"summary", std::move(summary)}}).pretty();
}

}  // namespace fairlead::report
