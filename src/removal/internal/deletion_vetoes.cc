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

}  // namespace

Task<DeletionVetoes> DeletionVetoes::find(kube::Client& client, const kube::Discovery& discovery, const Run& run) {
  DeletionVetoes found;
  for (std::string_view kind : {std::string_view("ValidatingWebhookConfiguration"),
                                std::string_view("MutatingWebhookConfiguration"), kPolicy}) {
    const object::Resource* resource = discovery.known().find(kGroup, kind);
    if (!resource) continue;
    auto list = co_await client.list(*resource, {});
    if (!list) {
      found.everything_ = true;
      break;
    }
    for (const Json& item : list->items)
      if (!run.find({.group = std::string(kGroup),
                     .kind = std::string(kind),
                     .name = std::string(item["metadata"]["name"].string_or(""))}))
        found.take(*resource, item);
  }
  co_return found;
}

void DeletionVetoes::take(const object::Resource& resource, const Json& item) {
  if (resource.kind == kPolicy) {
    // What a policy refuses depends on its expressions and bindings, which are not evaluated here.
    const Json& rules = item["spec"]["matchConstraints"]["resourceRules"];
    if (std::ranges::any_of(rules.items(), names_deletions)) everything_ = true;
    return;
  }
  for (admission::Webhook& webhook : admission::read_webhooks(item)) webhooks_.push_back(std::move(webhook));
}

bool DeletionVetoes::may_refuse(const LiveTarget& target) const {
  return everything_ || std::ranges::any_of(webhooks_, [&](const admission::Webhook& webhook) {
           return is_asked(webhook, target, admission::Operation::remove);
         });
}

}  // namespace fairlead::removal
