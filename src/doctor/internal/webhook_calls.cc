#include "base/plain_text.h"
#include "base/timestamp.h"
#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/reach.h"
#include "doctor/internal/texts.h"
#include "doctor/internal/warnings.h"
#include "lease/record.h"

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

std::string_view configurations_of(const admission::Webhook& webhook) {
  return webhook.kind == admission::Webhook::Kind::validating ? "validatingwebhookconfiguration"
                                                              : "mutatingwebhookconfiguration";
}

std::string next_of(const admission::Webhook& webhook, const Outage& outage) {
  if (outage.kind == Outage::Kind::no_namespace)
    return fmt::format("kubectl delete {} {}, if nothing uses it any more", configurations_of(webhook),
                       webhook.configuration);
  return outage.next;
}

// Clocks are assumed to be wrong by less than this. One look cannot tell more than the timestamp does.
constexpr Duration kClocksDiffer = std::chrono::minutes(5);

// The Lease of an operator that served this one namespace and has not renewed it for long; null if there is none.
const Json* lapsed_lock(const Snapshot& snapshot, const std::string& ns) {
  const Json* lease = snapshot.find("Lease", ns, lease::kNamespaceLock);
  if (!lease) return nullptr;
  lease::Record record = lease::Record::parse(*lease);
  std::optional<WallTime> renewed = parse_timestamp(record.renewed);
  bool lapsed = !record.holder.empty() && renewed &&
                *renewed + record.duration.value_or(lease::kDuration) + kClocksDiffer < snapshot.now;
  return lapsed ? lease : nullptr;
}

// An operator that died leaves its Lease behind, and its configuration still blocks the namespace.
void add_lapsed_lock(const Snapshot& snapshot, const admission::Webhook& webhook, Finding& finding) {
  const Json* lease = lapsed_lock(snapshot, webhook.service->ns);
  if (!lease) return;
  lease::Record record = lease::Record::parse(*lease);
  finding.causes.push_back(fmt::format("the operator of the namespace is gone: {} has not renewed Lease {}/{} since {}",
                                       record.shown_holder(), webhook.service->ns, lease::kNamespaceLock,
                                       plain_text(record.renewed, 40)));
  finding.next = fmt::format("{}; or, if it is not to come back: kubectl delete {} {}", finding.next,
                             configurations_of(webhook), webhook.configuration);
  finding.related.push_back(key_of(*lease));
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
  add_lapsed_lock(snapshot, webhook, finding);
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
