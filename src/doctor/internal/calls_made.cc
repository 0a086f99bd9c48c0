// What the API server has counted since it was started.
#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

void add(std::string_view code, const admission::Webhook& webhook, std::string what, Findings& findings) {
  findings.push_back({.code = code,
                      .severity = Severity::info,
                      .object = key_of(webhook),
                      .what = std::move(what),
                      .causes = {"counted by the API server since it was started"},
                      .next = fmt::format("kubectl get --raw /metrics | grep 'webhook.*{}'", webhook.name)});
}

}  // namespace

void check_calls_made(const Snapshot& snapshot, Findings& findings) {
  for (const admission::Webhook& webhook : webhooks_of(snapshot)) {
    const Metrics& metrics = snapshot.metrics;
    if (auto failed = metrics.failed_calls.find(webhook.name); failed != metrics.failed_calls.end())
      add("webhook-calls-failed", webhook,
          fmt::format("{} made {} fail, because it did not answer", text_of(webhook),
                      counted(failed->second, "request")),
          findings);
    if (auto open = metrics.failed_open.find(webhook.name); open != metrics.failed_open.end())
      add("webhook-failed-open", webhook,
          fmt::format("{} was skipped for {}, because it did not answer", text_of(webhook),
                      counted(open->second, "request")),
          findings);
  }
  for (const auto& [api, count] : snapshot.metrics.deprecated) {
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
