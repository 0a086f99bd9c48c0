#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/reach.h"
#include "doctor/internal/texts.h"
#include "doctor/internal/warnings.h"

namespace fairlead::doctor {
namespace {

std::string_view code_of(Outage::Kind kind) {
  switch (kind) {
    case Outage::Kind::no_namespace: return "webhook-orphaned";
    case Outage::Kind::no_service: return "webhook-service-missing";
    case Outage::Kind::no_port: return "webhook-port-missing";
    case Outage::Kind::no_endpoints: break;
  }
  return "webhook-no-endpoints";
}

std::string next_of(const admission::Webhook& webhook, const Outage& outage) {
  if (outage.kind == Outage::Kind::no_namespace)
    return fmt::format("kubectl delete {} {}, if nothing uses it any more",
                       webhook.kind == admission::Webhook::Kind::validating ? "validatingwebhookconfiguration"
                                                                            : "mutatingwebhookconfiguration",
                       webhook.configuration);
  return outage.next;
}

Finding finding_for(const Snapshot& snapshot, const admission::Webhook& webhook, Outage outage) {
  std::string next = next_of(webhook, outage);
  Finding finding{.code = code_of(outage.kind),
                  .severity = Severity::error,
                  .object = key_of(webhook),
                  .what = fmt::format("{} cannot be called", text_of(webhook)),
                  .causes = std::move(outage.causes),
                  .next = std::move(next),
                  .related = std::move(outage.related)};
  Reach reach = reach_of(snapshot, webhook);
  if (reach.matches_nothing()) finding.severity = Severity::warning;
  else finding.blocks = reach.text();
  if (webhook.failure_policy == admission::FailurePolicy::fail) return finding;
  finding.code = "webhook-skipped";
  finding.severity = Severity::warning;
  finding.blocks.clear();
  finding.what =
      fmt::format("{} is skipped, because its failurePolicy is Ignore and it cannot be called", text_of(webhook));
  if (!outage.since.empty()) finding.what += fmt::format(", since {}", outage.since);
  if (!reach.matches_nothing()) finding.causes.push_back(fmt::format("not checked: {}", reach.text()));
  return finding;
}

// Adds the objects that were refused in the last hour.
void add_victims(Finding& finding, const Victims& victims) {
  std::vector<std::string> names;
  for (const object::Key& key : victims.objects) names.push_back(key.text());
  finding.causes.push_back(fmt::format("requests for {} failed, the last at {}", listed(names), victims.when));
  finding.related.insert(finding.related.end(), victims.objects.begin(), victims.objects.end());
}

}  // namespace

void check_webhook_calls(const Snapshot& snapshot, Findings& findings) {
  std::map<std::string, Victims> victims = victims_of_webhooks(snapshot);
  for (const admission::Webhook& webhook : webhooks_of(snapshot)) {
    if (!webhook.service) continue;
    std::optional<Outage> outage = outage_of(snapshot, *webhook.service);
    if (!outage) continue;
    findings.push_back(finding_for(snapshot, webhook, *std::move(outage)));
    if (auto found = victims.find(webhook.name); found != victims.end()) add_victims(findings.back(), found->second);
  }
}

}  // namespace fairlead::doctor
