#include "sandbox/verbs/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kRequests = "apiserver_admission_webhook_request_total";
constexpr std::string_view kRejections = "apiserver_admission_webhook_rejection_count";
constexpr std::string_view kFailOpen = "apiserver_admission_webhook_fail_open_count";
constexpr std::string_view kConditions = "apiserver_admission_match_condition_evaluation_seconds";
constexpr std::string_view kConditionErrors = "apiserver_admission_match_condition_evaluation_errors_total";
constexpr std::string_view kDeprecated = "apiserver_requested_deprecated_apis";

// The largest status that the real server counts as it is.
constexpr int kMostCode = 600;

std::string_view type_of(const admission::Webhook& webhook) {
  return webhook.kind == admission::Webhook::Kind::mutating ? "admit" : "validating";
}

std::string_view error_type_of(admission::Encounter::How how) {
  using How = admission::Encounter::How;
  if (how == How::denied) return "no_error";
  return how == How::unusable ? "apiserver_internal_error" : "calling_webhook_error";
}

std::string_view kind_of(std::string_view name) {
  if (name == kConditions) return "histogram";
  return name == kDeprecated ? "gauge" : "counter";
}

void append_escaped(std::string& text, std::string_view value) {
  for (char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') text += "\\n";
    else text += c;
  }
}

}  // namespace

uint64_t& Counters::series(std::string_view name, const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) {
    if (!text.empty()) text += ',';
    text += key;
    text += "=\"";
    append_escaped(text, value);
    text += '"';
  }
  return series_[std::string(name)][std::move(text)];
}

void Counters::count_webhooks(const std::vector<admission::Encounter>& encounters, admission::Operation operation) {
  using How = admission::Encounter::How;
  std::string_view verb = admission::name_of(operation);
  for (const admission::Encounter& one : encounters) {
    std::string_view name = one.webhook->name, type = type_of(*one.webhook);
    if (one.how == How::conditions) {
      count_conditions(one, verb, type);
      continue;
    }
    std::string code = fmt::format("{}", std::min(one.code, kMostCode));
    std::string_view rejected = one.is_rejected ? "true" : "false";
    ++series(kRequests, {{"code", code}, {"name", name}, {"operation", verb}, {"rejected", rejected}, {"type", type}});
    if (one.is_rejected)
      ++series(kRejections, {{"error_type", error_type_of(one.how)},
                             {"name", name},
                             {"operation", verb},
                             {"rejection_code", code},
                             {"type", type}});
    else if (one.how == How::failed) ++series(kFailOpen, {{"name", name}, {"type", type}});
  }
}

void Counters::count_conditions(const admission::Encounter& encounter, std::string_view operation,
                                std::string_view type) {
  Labels labels{{"kind", "webhook"}, {"name", encounter.webhook->name}, {"operation", operation}, {"type", type}};
  ++series(kConditions, labels);
  if (encounter.condition_errors > 0) series(kConditionErrors, labels) += encounter.condition_errors;
}

void Counters::note_deprecated(std::string_view group, std::string_view version, std::string_view resource,
                               std::string_view subresource, std::string_view removed_in) {
  series(kDeprecated, {{"group", group},
                       {"removed_release", removed_in},
                       {"resource", resource},
                       {"subresource", subresource},
                       {"version", version}}) = 1;
}

std::string Counters::text() const {
  std::string text;
  for (const auto& [name, all] : series_) {
    text += fmt::format("# TYPE {} {}\n", name, kind_of(name));
    for (const auto& [labels, value] : all) {
      if (name != kConditions) {
        text += fmt::format("{}{{{}}} {}\n", name, labels, value);
        continue;
      }
      // How long evaluations take is not measured here.
      text += fmt::format("{0}_bucket{{{1},le=\"+Inf\"}} {2}\n{0}_sum{{{1}}} 0\n{0}_count{{{1}}} {2}\n", name, labels,
                          value);
    }
  }
  return text;
}

}  // namespace fairlead::sandbox
