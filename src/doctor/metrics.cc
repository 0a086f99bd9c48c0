#include "doctor/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace fairlead::doctor {
namespace {

// Webhooks and APIs are few; a text with more names than this is not believed.
constexpr size_t kMost = 10'000;

using Labels = std::map<std::string, std::string, std::less<>>;

struct Line {
  std::string_view name;
  Labels labels;
  uint64_t value = 0;
};

// Reads `key="value",…}` and moves `text` behind it. Returns nothing if it is malformed.
std::optional<Labels> read_labels(std::string_view& text) {
  Labels labels;
  while (!text.starts_with('}')) {
    size_t equals = text.find("=\"");
    if (equals == std::string_view::npos) return std::nullopt;
    std::string key(text.substr(0, equals));
    text.remove_prefix(equals + 2);
    std::string value;
    while (!text.empty() && text.front() != '"') {
      if (text.front() == '\\') text.remove_prefix(1);
      if (text.empty()) return std::nullopt;
      value += text.front();
      text.remove_prefix(1);
    }
    if (text.empty()) return std::nullopt;
    text.remove_prefix(1);
    if (text.starts_with(',')) text.remove_prefix(1);
    labels[std::move(key)] = std::move(value);
  }
  text.remove_prefix(1);
  return labels;
}

std::optional<Line> read_line(std::string_view text) {
  size_t brace = text.find('{');
  if (brace == std::string_view::npos) return std::nullopt;
  Line line{.name = text.substr(0, brace), .labels = {}};
  text.remove_prefix(brace + 1);
  std::optional<Labels> labels = read_labels(text);
  if (!labels || !text.starts_with(' ')) return std::nullopt;
  line.labels = *std::move(labels);
  text.remove_prefix(1);
  double value = 0;
  std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || !std::isfinite(value) || value < 1 || value > 1e18) return std::nullopt;
  line.value = static_cast<uint64_t>(value);
  return line;
}

constexpr std::string_view kRequests = "apiserver_admission_webhook_request_total";
constexpr std::string_view kRejections = "apiserver_admission_webhook_rejection_count";
constexpr std::string_view kFailOpen = "apiserver_admission_webhook_fail_open_count";
constexpr std::string_view kConditions = "apiserver_admission_match_condition_evaluation_seconds_count";
constexpr std::string_view kConditionErrors = "apiserver_admission_match_condition_evaluation_errors_total";
constexpr std::string_view kDeprecated = "apiserver_requested_deprecated_apis";

bool is_of_interest(std::string_view line) {
  std::string_view name = line.substr(0, line.find('{'));
  return std::ranges::any_of(
      std::to_array({kRequests, kRejections, kFailOpen, kConditions, kConditionErrors, kDeprecated}),
      [&](std::string_view one) { return name == one; });
}

void count(Metrics::Calls& calls, std::string_view name, Labels& labels, uint64_t value) {
  bool is_policy = labels.contains("kind") && labels["kind"] != "webhook";
  if (name == kConditions && !is_policy) calls.conditions += value;
  if (name == kConditionErrors && !is_policy) calls.condition_errors += value;
  if (name == kFailOpen) calls.skipped += value;
  if (name == kRequests && labels["rejected"] == "false") {
    if (labels["code"] == "200") calls.answered += value;
    else calls.statuses.insert(labels["code"]);
  }
  if (name != kRejections) return;
  // A rejection without an error is a webhook that said no, as it should.
  if (labels["error_type"] == "no_error") {
    calls.answered += value;
    return;
  }
  calls.refused += value;
  calls.statuses.insert(labels["rejection_code"]);
}

}  // namespace

Metrics Metrics::parse(std::string_view text) {
  Metrics metrics;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view one = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!is_of_interest(one)) continue;
    if (metrics.calls.size() + metrics.deprecated.size() >= kMost) break;
    std::optional<Line> line = read_line(one);
    if (!line) continue;
    Labels& labels = line->labels;
    if (line->name == kDeprecated)
      metrics.deprecated[{labels["group"], labels["version"], labels["resource"], labels["removed_release"]}] +=
          line->value;
    else count(metrics.calls[labels["name"]], line->name, labels, line->value);
  }
  return metrics;
}

}  // namespace fairlead::doctor
