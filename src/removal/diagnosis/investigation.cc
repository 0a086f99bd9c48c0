#include "removal/diagnosis/investigation.h"

#include <algorithm>

#include "kube/query.h"
#include "object/condition.h"
#include "object/containers.h"
#include "object/definition.h"
#include "removal/diagnosis/progress.h"
#include "removal/order/finalizers.h"

namespace fairlead::removal {
namespace {

// How many objects of each kind are read, and how many of the kinds that remain in a namespace.
constexpr size_t kSome = 500;
constexpr size_t kKinds = 3;
constexpr size_t kServices = 2;
// How many webhook configurations are read again before one of them is blamed.
constexpr size_t kConfirmed = 5;
constexpr std::string_view kMetadataOnly =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

bool is_owned_by(const Json& object, std::string_view uid) {
  return std::ranges::any_of(object["metadata"]["ownerReferences"].items(),
                             [&](const Json& owner) { return owner["uid"].string_or("") == uid; });
}

}  // namespace

Task<std::optional<std::vector<Json>>> Investigator::some_of(object::Resource resource, std::string ns,
                                                             bool metadata_only) {
  Result<std::string> path = resource.list_path(ns);
  if (!path) co_return std::nullopt;
  kube::Query query;
  query.add("limit", std::to_string(kSome));
  kube::Outcome<kube::Reply> reply =
      co_await client_.request({.verb = "list",
                                .target = query.behind(*std::move(path)),
                                .accept = std::string(metadata_only ? kMetadataOnly : "application/json")});
  if (!reply) co_return std::nullopt;
  std::vector<Json> items;
  for (const Json& item : reply->value["items"].items()) {
    items.push_back(item);
    items.back().make("kind") = resource.kind;
    items.back().make("apiVersion") = resource.api_version();
  }
  co_return items;
}

Task<std::optional<std::vector<Json>>> Investigator::some(std::string_view group, std::string_view kind, std::string ns,
                                                          bool metadata_only) {
  const object::Resource* resource = discovery_.known().find(group, kind);
  if (!resource) co_return std::nullopt;
  co_return co_await some_of(*resource, std::move(ns), metadata_only);
}

Task<void> Investigator::add_pods(Evidence& evidence, std::string ns) {
  if (auto pods = co_await some("", "Pod", std::move(ns), false))
    for (Json& pod : *pods) evidence.pods.push_back(std::move(pod));
}

Task<void> Investigator::find_remaining(Evidence& evidence) {
  const object::Key& key = evidence.key;
  std::vector<std::pair<object::Resource, std::string>> places;
  std::string owner;
  if (is_namespace(key)) {
    for (const RemainingKind& kind : remaining_in(evidence.object)) {
      if (places.size() == kKinds) break;
      const object::Resource* resource =
          discovery_.known().find_by_name(kind.group.empty() ? kind.resource : kind.resource + "." + kind.group);
      if (resource) places.emplace_back(*resource, key.name);
    }
    bool hidden = object::has_status(object::condition(evidence.object, "NamespaceDeletionDiscoveryFailure"), "True");
    if (hidden)
      if (auto services = co_await some("apiregistration.k8s.io", "APIService", "", false))
        evidence.api_services = *std::move(services);
  } else if (is_crd(key)) {
    object::Definition definition(evidence.object);
    const object::Resource* resource = discovery_.known().find(definition.group(), definition.kind());
    if (resource) places.emplace_back(*resource, "");
  } else if (std::ranges::any_of(evidence.object["metadata"]["finalizers"].items(),
                                 [](const Json& one) { return one.string_or("") == "foregroundDeletion"; })) {
    owner = evidence.object["metadata"]["uid"].string_or("");
    for (auto [group, kind] :
         {std::pair<std::string_view, std::string_view>{"", "Pod"}, {"apps", "ReplicaSet"}, {"batch", "Job"}})
      if (const object::Resource* resource = discovery_.known().find(group, kind))
        places.emplace_back(*resource, key.ns);
  }
  for (auto& [resource, ns] : places) {
    auto objects = co_await some_of(resource, ns, true);
    if (!objects) continue;
    for (Json& object : *objects) {
      if (!owner.empty() && !is_owned_by(object, owner)) continue;
      evidence.remaining.push_back(std::move(object));
      evidence.remaining_kinds.push_back(resource);
    }
  }
}

Task<void> Investigator::find_guards(Evidence& evidence) {
  Holder holder = holder_of(evidence);
  if (!holder.object) co_return;
  (void)co_await configurations_.read();
  if (configurations_.known().empty()) co_return;
  evidence.webhook_configurations = configurations_.known();
  if (const object::Resource* namespaces = discovery_.known().find("", "Namespace");
      namespaces && !holder.key.ns.empty()) {
    auto ns = co_await client_.get(*namespaces, "", holder.key.ns);
    if (ns) evidence.ns = std::move(ns->value);
  }
  std::set<std::string> namespaces;
  const object::Resource* services = discovery_.known().find("", "Service");
  for (const admission::Webhook& webhook : webhooks_before(holder, evidence)) {
    if (!webhook.service || !services || evidence.services.size() == kServices) continue;
    auto service = co_await client_.get(*services, webhook.service->ns, webhook.service->name);
    if (service) evidence.services.push_back(std::move(service->value));
    else if (!service.error().is(kube::FaultKind::not_found)) continue;
    namespaces.insert(webhook.service->ns);
  }
  for (const std::string& ns : namespaces) {
    auto slices = co_await some("discovery.k8s.io", "EndpointSlice", ns, false);
    if (!slices) continue;
    evidence.namespaces_of_slices.push_back(ns);
    bool all_ready = !slices->empty();
    for (Json& slice : *slices) {
      bool ready = std::ranges::any_of(slice["endpoints"].items(), [](const Json& endpoint) {
        return endpoint["conditions"]["ready"].bool_or(true);
      });
      all_ready = all_ready && ready;
      evidence.slices.push_back(std::move(slice));
    }
    if (!all_ready) co_await add_pods(evidence, ns);
  }
  co_await confirm_guards(evidence);
}

Task<void> Investigator::confirm_guards(Evidence& evidence) {
  Holder holder = holder_of(evidence);
  for (size_t i = 0; i < kConfirmed; ++i) {
    std::optional<admission::Webhook> blamed = silent_webhook(holder, evidence);
    if (!blamed || co_await configurations_.is_current(*blamed)) co_return;
    evidence.webhook_configurations = configurations_.known();
  }
}

Task<std::optional<std::vector<Json>>> Investigator::all_workloads() {
  std::vector<Json> all;
  for (std::string_view kind : {"Deployment", "StatefulSet"}) {
    const object::Resource* resource = discovery_.known().find("apps", kind);
    if (!resource) co_return std::nullopt;
    kube::Outcome<kube::List> list = co_await client_.list(*resource, {});
    if (!list) co_return std::nullopt;
    for (Json& item : list->items) {
      if (Json::Object* metadata = item.make("metadata").if_object()) metadata->erase("managedFields");
      if (Json::Object* spec = item.make("spec").if_object()) spec->erase("template");
      item.make("kind") = kind;
      item.make("apiVersion") = resource->api_version();
      all.push_back(std::move(item));
    }
  }
  co_return all;
}

Task<void> Investigator::find_controller(Evidence& evidence) {
  Holder holder = holder_of(evidence);
  if (!holder.object || !has_foreign_finalizer(*holder.object)) co_return;
  if (!workloads_) workloads_ = co_await all_workloads();
  evidence.workloads = workloads_;
  if (!workloads_) co_return;
  std::string finalizer((*holder.object)["metadata"]["finalizers"].item(0).string_or(""));
  const Json* controller = controller_of(finalizer, holder, *workloads_);
  if (!controller || (*controller)["status"]["readyReplicas"].int_or(0) > 0) co_return;
  std::string ns((*controller)["metadata"]["namespace"].string_or(""));
  if (std::ranges::find(evidence.namespaces_of_slices, ns) == evidence.namespaces_of_slices.end())
    co_await add_pods(evidence, ns);
}

Task<kube::Outcome<Evidence>> Investigator::look(object::Key key, object::Resource resource, Json last) {
  Evidence evidence{.key = std::move(key), .resource = std::move(resource), .object = std::move(last)};
  auto whole = co_await client_.get(evidence.resource, evidence.key.ns, evidence.key.name);
  if (!whole) co_return std::unexpected(whole.error());
  evidence.object = std::move(whole->value);
  co_await find_remaining(evidence);
  co_await find_guards(evidence);
  co_await find_controller(evidence);
  if (evidence.key.group.empty() && evidence.key.kind == "PersistentVolumeClaim")
    co_await add_pods(evidence, evidence.key.ns);
  co_return evidence;
}

}  // namespace fairlead::removal
