#include "removal/internal/deletion_vetoes.h"

#include <algorithm>

#include "removal/order/asked.h"

namespace fairlead::removal {
namespace {

constexpr std::string_view kGroup = "admissionregistration.k8s.io";
constexpr std::string_view kPolicy = "ValidatingAdmissionPolicy";

bool names_deletions(const Json& rule) {
  return std::ranges::any_of(rule["operations"].items(), [](const Json& operation) {
    return operation.string_or("") == "*" || operation.string_or("") == "DELETE";
  });
}

// What a policy refuses depends on its expressions and bindings, which are not evaluated here.
bool may_refuse_deletions(const Json& policy) {
  return std::ranges::any_of(policy["spec"]["matchConstraints"]["resourceRules"].items(), names_deletions);
}

}  // namespace

Task<DeletionVetoes> DeletionVetoes::find(kube::Client& client, const kube::Discovery& discovery, const Run& run,
                                          WebhookConfigurations& configurations) {
  DeletionVetoes found;
  auto is_target = [&](const Json& item) {
    return run.find({.group = std::string(kGroup),
                     .kind = std::string(item["kind"].string_or("")),
                     .name = std::string(item["metadata"]["name"].string_or(""))});
  };
  found.everything_ = !co_await configurations.read();
  for (const Json& item : configurations.known())
    if (!is_target(item)) std::ranges::move(admission::read_webhooks(item), std::back_inserter(found.webhooks_));
  const object::Resource* policies = discovery.known().find(kGroup, kPolicy);
  if (!policies || found.everything_) co_return found;
  kube::Outcome<kube::List> list = co_await client.list(*policies, {});
  found.everything_ = !list || std::ranges::any_of(list->items, [&](const Json& item) {
    return !is_target(item) && may_refuse_deletions(item);
  });
  co_return found;
}

bool DeletionVetoes::may_refuse(const LiveTarget& target) const {
  return everything_ || std::ranges::any_of(webhooks_, [&](const admission::Webhook& webhook) {
           return is_asked(webhook, target, admission::Operation::remove);
         });
}

}  // namespace fairlead::removal
