#include "doctor/show.h"

#include <algorithm>
#include <map>

#include "base/colours.h"
#include "base/printable.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

constexpr int kSchemaVersion = 1;

std::string_view colour_of(Severity severity) {
  switch (severity) {
    case Severity::error: return colours::kBad;
    case Severity::warning: return colours::kTrouble;
    case Severity::info: break;
  }
  return colours::kCyan;
}

std::string line(std::string_view label, std::string_view text) {
  return fmt::format("  {:<10}{}\n", label, printable_line(text));
}

std::string finding_text(const Finding& finding, bool colours) {
  std::string severity(name_of(finding.severity));
  if (colours) severity = fmt::format("{}{}{}", colour_of(finding.severity), severity, colours::kPlain);
  std::string text = fmt::format("{}: {}\n", severity, printable_line(finding.what));
  for (const std::string& cause : finding.causes) text += line("because", cause);
  if (!finding.from.empty()) text += line("from", finding.from);
  if (!finding.blocks.empty()) text += line("blocks", finding.blocks);
  if (!finding.next.empty()) text += line("next", finding.next);
  return text + line("code", finding.code);
}

size_t count(const Report& report, Severity severity) {
  return static_cast<size_t>(std::ranges::count(report.findings, severity, &Finding::severity));
}

std::string summary_of(const Report& report) {
  if (report.findings.empty() && report.is_blind)
    return "nothing was examined: no webhook configuration, workload or pod could be read\n";
  if (report.findings.empty() && !report.unseen.empty())
    return fmt::format("no problems found in what could be read ({} of the cluster could not be)\n",
                       counted(report.unseen.size(), "part"));
  if (report.findings.empty()) return "no problems found\n";
  std::vector<std::string> parts;
  for (Severity severity : {Severity::error, Severity::warning})
    if (size_t found = count(report, severity)) parts.push_back(counted(found, name_of(severity)));
  if (size_t infos = count(report, Severity::info)) parts.push_back(fmt::format("{} for information", infos));
  return fmt::format("{}\n", fmt::join(parts, ", "));
}

Json json_of(const object::Key& key) {
  return Json::Object{{"group", key.group}, {"kind", key.kind}, {"namespace", key.ns}, {"name", key.name}};
}

Json json_of(const Finding& finding) {
  Json json(Json::Object{{"code", finding.code},
                         {"severity", name_of(finding.severity)},
                         {"object", json_of(finding.object)},
                         {"what", finding.what},
                         {"causes", Json::Array(finding.causes.begin(), finding.causes.end())},
                         {"next", finding.next}});
  if (!finding.from.empty()) json.make("from") = finding.from;
  if (!finding.blocks.empty()) json.make("blocks") = finding.blocks;
  Json::Array related;
  for (const object::Key& key : finding.related) related.push_back(json_of(key));
  json.make("related") = std::move(related);
  return json;
}

}  // namespace

std::string text_of(const Report& report, bool colours) {
  std::string text;
  for (const Finding& finding : report.findings) text += finding_text(finding, colours) + "\n";
  return text + summary_of(report);
}

std::vector<std::string> notes_of(const Report& report) {
  std::map<std::pair<bool, std::string>, std::vector<std::string>> by_reason;
  for (const Unseen& one : report.unseen) by_reason[{one.is_partial, one.why}].push_back(one.what);
  std::vector<std::string> notes;
  for (const auto& [reason, names] : by_reason)
    notes.push_back(fmt::format("{}: {}: {}", reason.first ? "partly read" : "could not be read",
                                fmt::join(names, ", "), reason.second));
  return notes;
}

Json json_of(const Report& report) {
  Json::Array findings, unseen;
  for (const Finding& finding : report.findings) findings.push_back(json_of(finding));
  for (const Unseen& one : report.unseen) unseen.emplace_back(Json::Object{{"what", one.what}, {"why", one.why}});
  return Json::Object{{"schemaVersion", kSchemaVersion},
                      {"errors", uint64_t{count(report, Severity::error)}},
                      {"warnings", uint64_t{count(report, Severity::warning)}},
                      {"infos", uint64_t{count(report, Severity::info)}},
                      {"findings", std::move(findings)},
                      {"unseen", std::move(unseen)},
                      {"requests", report.requests}};
}

}  // namespace fairlead::doctor
