#include "gate/rules/hook.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "readiness/shadow_objects.h"

namespace fairlead::gate {
namespace {

// Annotations by which people ask for a caBundle.
constexpr std::string_view kInjectors[] = {"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret",
                                           "service.beta.openshift.io/inject-cabundle"};

bool asks_for_injection(const Json& configuration) {
  const Json& annotations = configuration["metadata"]["annotations"];
  for (std::string_view name : kInjectors)
    if (annotations.contains(name)) return true;
  return false;
}

}  // namespace

std::string Hook::id() const {
  std::string_view kind = webhook.kind == admission::Webhook::Kind::mutating ? "mutating" : "validating";
  return fmt::format("{}/{}/{}", kind, webhook.id, uid);
}

std::string_view Hook::configuration_kind() const {
  bool mutates = webhook.kind == admission::Webhook::Kind::mutating;
  return mutates ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
}

bool Hook::names_group(std::string_view group) const {
  return std::ranges::any_of(webhook.rules, [&](const admission::Rule& rule) {
    return std::ranges::find(rule.groups, group) != rule.groups.end();
  });
}

std::string Hook::text() const {
  return fmt::format("webhook {} ({} {})", printable_line(webhook.name), configuration_kind(),
                     printable_line(webhook.configuration));
}

std::vector<Hook> hooks_of(const Json& configuration) {
  std::vector<Hook> hooks;
  const Json& metadata = configuration["metadata"];
  if (admission::is_of_fairlead(configuration)) return hooks;
  bool asks = asks_for_injection(configuration);
  std::vector<admission::Webhook> webhooks = admission::read_webhooks(configuration);
  for (size_t i = 0; i < webhooks.size(); ++i) {
    // A marker that proves a configuration stands in that configuration itself.
    if (readiness::guest_ownership(webhooks[i].name)) continue;
    hooks.push_back({.webhook = std::move(webhooks[i]),
                     .stored = configuration["webhooks"].item(i),
                     .uid = std::string(metadata["uid"].string_or("")),
                     .created = std::string(metadata["creationTimestamp"].string_or(""))});
    hooks.back().awaits_injection = asks && hooks.back().webhook.ca_bundle.empty();
  }
  return hooks;
}

}  // namespace fairlead::gate
