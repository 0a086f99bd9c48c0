// What the API server has counted since it was started.
#include <algorithm>

#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

// What the statuses say about answers that were none. Bad answers and no answers at all have the same status.
std::vector<std::string> causes_of(const Metrics::Calls& calls) {
  std::vector<std::string> statuses, causes;
  for (const std::string& status : calls.statuses)
    if (status != "503" && status != "0") statuses.push_back(status);
  if (!statuses.empty()) causes.push_back(fmt::format("it answered with HTTP status {}", listed(statuses)));
  if (calls.statuses.contains("503"))
    causes.emplace_back(
        "the API server got no valid answer: a refused connection, a timeout, an untrusted certificate, HTTP status "
        "503, or something that is no AdmissionReview");
  if (calls.statuses.contains("0"))
    causes.emplace_back("the API server could not use its answer, such as a patch that does not fit the object");
  causes.push_back(calls.answered == 0 ? "it has not answered a single request since the API server was started"
                                       : fmt::format("it has answered {} since the API server was started",
                                                     counted(calls.answered, "request")));
  return causes;
}

bool explains_silence(std::string_view code) {
  constexpr std::string_view kOutages[] = {"webhook-orphaned", "webhook-service-missing", "webhook-port-missing",
                                           "webhook-no-endpoints", "webhook-skipped"};
  return code.starts_with("ca-") || code.starts_with("certificate-") ||
         std::ranges::find(kOutages, code) != std::end(kOutages);
}

// True if a finding says already why the webhook does not answer.
bool is_explained(const admission::Webhook& webhook, const Findings& findings) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return finding.object == key_of(webhook) && finding.severity != Severity::info && explains_silence(finding.code);
  });
}

void add(std::string_view code, const admission::Webhook& webhook, std::string what, const Metrics::Calls& calls,
         bool is_news, Findings& findings) {
  findings.push_back({.code = code,
                      .severity = is_news && calls.answered == 0 ? Severity::warning : Severity::info,
                      .object = key_of(webhook),
                      .what = std::move(what),
                      .causes = causes_of(calls),
                      .next = fmt::format("fairlead wait webhook/{} --layers --timeout 30s", webhook.configuration)});
}

// Kubernetes' own controllers use Endpoints, in every cluster, so the counter says nothing about clients.
bool is_used_by_kubernetes(const Metrics::DeprecatedApi& api) {
  return api.group.empty() && api.resource == "endpoints" && api.removed_in.empty();
}

void add_condition_errors(const admission::Webhook& webhook, const Metrics::Calls& calls, Findings& findings) {
  bool is_required = webhook.failure_policy == admission::FailurePolicy::fail;
  object::Key key = key_of(webhook);
  findings.push_back(
      {.code = "webhook-condition-errors",
       .severity = calls.condition_errors >= calls.conditions ? Severity::warning : Severity::info,
       .object = key,
       .what = fmt::format("matchConditions of {} could not be evaluated for {}", text_of(webhook),
                           counted(calls.condition_errors, "request")),
       .causes = {is_required ? "its failurePolicy is Fail, so these requests were refused"
                              : "its failurePolicy is Ignore, so these requests were accepted without it",
                  fmt::format("of {} since the API server was started", counted(calls.conditions, "evaluation"))},
       .next = get_command(key)});
}

}  // namespace

void check_calls_made(const Snapshot& snapshot, Findings& findings) {
  for (const admission::Webhook& webhook : webhooks_of(snapshot)) {
    auto found = snapshot.metrics.calls.find(webhook.name);
    if (found == snapshot.metrics.calls.end()) continue;
    const Metrics::Calls& calls = found->second;
    bool is_news = !is_explained(webhook, findings);
    if (calls.refused > 0)
      add("webhook-calls-failed", webhook,
          fmt::format("{} made {} fail", text_of(webhook), counted(calls.refused, "request")), calls, is_news,
          findings);
    if (calls.skipped > 0)
      add("webhook-failed-open", webhook,
          fmt::format("{} was skipped for {}", text_of(webhook), counted(calls.skipped, "request")), calls, is_news,
          findings);
    if (calls.condition_errors > 0 && !webhook.conditions.empty()) add_condition_errors(webhook, calls, findings);
  }
  for (const auto& [api, count] : snapshot.metrics.deprecated) {
    if (is_used_by_kubernetes(api)) continue;
    std::string version = api.group.empty() ? api.version : api.group + "/" + api.version;
    findings.push_back(
        {.code = "deprecated-api-used",
         .severity = api.removed_in.empty() ? Severity::info : Severity::warning,
         .object = {.group = "apiregistration.k8s.io",
                    .kind = "APIService",
                    .ns = {},
                    .name = api.group.empty() ? api.version : api.version + "." + api.group},
         .what = fmt::format("a client uses {} in {}, which is deprecated", api.resource, version),
         .causes = {api.removed_in.empty() ? "no release is known yet that removes it"
                                           : fmt::format("Kubernetes {} does not have it", api.removed_in)},
         .next = "find the client in the audit log: its requests have the annotation k8s.io/deprecated=true"});
  }
}

}  // namespace fairlead::doctor
