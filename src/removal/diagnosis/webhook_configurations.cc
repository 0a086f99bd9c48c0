#include "removal/diagnosis/webhook_configurations.h"

#include <algorithm>

namespace fairlead::removal {
namespace {

constexpr std::string_view kGroup = "admissionregistration.k8s.io";
constexpr std::string_view kValidating = "ValidatingWebhookConfiguration";
constexpr std::string_view kMutating = "MutatingWebhookConfiguration";

}  // namespace

Task<bool> WebhookConfigurations::read() {
  bool complete = true;
  for (std::string_view kind : {kValidating, kMutating}) {
    const object::Resource* resource = discovery_.known().find(kGroup, kind);
    if (!resource || kinds_read_.contains(kind)) continue;
    kube::Outcome<kube::List> list = co_await client_.list(*resource, {});
    complete = complete && list;
    if (!list) continue;
    kinds_read_.insert(kind);
    std::ranges::move(list->items, std::back_inserter(known_));
  }
  co_return complete;
}

Task<bool> WebhookConfigurations::is_current(const admission::Webhook& webhook) {
  std::string_view kind = webhook.kind == admission::Webhook::Kind::mutating ? kMutating : kValidating;
  std::string name = webhook.configuration;
  const object::Resource* resource = discovery_.known().find(kGroup, kind);
  if (!resource) co_return true;
  kube::Outcome<kube::List> now = co_await client_.list(*resource, {.field_selector = "metadata.name=" + name});
  if (!now) co_return true;
  auto before = std::ranges::find_if(known_, [&](const Json& one) {
    return one["kind"].string_or("") == kind && one["metadata"]["name"].string_or("") == name;
  });
  if (before == known_.end()) co_return false;
  if (now->items.empty()) {
    known_.erase(before);
    co_return false;
  }
  if ((*before)["metadata"]["resourceVersion"] == now->items.front()["metadata"]["resourceVersion"]) co_return true;
  *before = std::move(now->items.front());
  co_return false;
}

}  // namespace fairlead::removal
