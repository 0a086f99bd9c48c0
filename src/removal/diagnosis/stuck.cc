#include "removal/diagnosis/stuck.h"

#include <algorithm>
#include <array>

#include "admission/match.h"
#include "object/condition.h"
#include "object/containers.h"
#include "removal/diagnosis/progress.h"
#include "removal/order/finalizers.h"

namespace fairlead::removal {
namespace {

constexpr size_t kNamed = 3;

std::string text(const Json& value) { return std::string(value.string_or("")); }

std::vector<std::string> finalizers_of(const Json& object) {
  std::vector<std::string> names;
  for (const Json& one : object["metadata"]["finalizers"].items()) names.push_back(text(one));
  return names;
}

object::Key key_in(const Json& object, const object::Resource& resource) {
  return {.group = resource.group,
          .kind = resource.kind,
          .ns = text(object["metadata"]["namespace"]),
          .name = text(object["metadata"]["name"])};
}

std::string in_namespace(const std::string& ns) { return ns.empty() ? "" : "-n " + ns + " "; }

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (size_t i = 0; i < names.size() && i < kNamed; ++i) all += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kNamed) all += fmt::format(" and {} more", names.size() - kNamed);
  return all;
}

// True for names that many controllers share: they do not say which controller it is.
bool says_nothing(std::string_view manager) {
  static constexpr std::array<std::string_view, 9> kCommon{
      "manager", "controller", "operator", "Go-http-client", "kubectl", "unknown", "before-first-apply",
      "main",    "node"};
  return manager.empty() || manager.starts_with("kubectl-") || manager.starts_with("fairlead") ||
         std::ranges::find(kCommon, manager) != kCommon.end();
}

std::string kind_text(const Json& workload) {
  return fmt::format("{} {}/{}", workload["kind"].string_or("Deployment"),
                     workload["metadata"]["namespace"].string_or(""), workload["metadata"]["name"].string_or(""));
}

std::string force_advice(const object::Key& key) {
  return fmt::format("fairlead delete {}{}/{} --force-finalizers", in_namespace(key.ns),
                     key.group.empty() ? key.kind : key.kind + "." + key.group, key.name);
}

readiness::Objects pointers(const std::vector<Json>& objects) {
  readiness::Objects all;
  for (const Json& object : objects) all.push_back(&object);
  return all;
}

// Returns the Service of a webhook; null if it does not exist.
const Json* service_of(const admission::Webhook& webhook, const Evidence& evidence) {
  for (const Json& one : evidence.services)
    if (text(one["metadata"]["name"]) == webhook.service->name &&
        text(one["metadata"]["namespace"]) == webhook.service->ns)
      return &one;
  return nullptr;
}

bool add_webhooks(Explanation& found, const Holder& holder, const Evidence& evidence) {
  std::optional<admission::Webhook> webhook = silent_webhook(holder, evidence);
  if (!webhook) return false;
  found.chain.causes.push_back(
      fmt::format("the update that removes it must pass webhook {} ({}), which does not answer", webhook->name,
                  webhook->configuration));
  found.chain.next =
      fmt::format("kubectl -n {} get endpointslices,pods; if the webhook is no longer needed: kubectl delete {} {}",
                  webhook->service->ns,
                  webhook->kind == admission::Webhook::Kind::validating ? "validatingwebhookconfiguration"
                                                                        : "mutatingwebhookconfiguration",
                  webhook->configuration);
  if (const Json* service = service_of(*webhook, evidence)) {
    found.chain.add(
        {.causes = readiness::why_no_endpoints(*service, pointers(evidence.slices), pointers(evidence.pods)).causes});
    found.suspects.push_back(*service);
  } else {
    found.chain.causes.push_back(
        fmt::format("service {}/{} does not exist", webhook->service->ns, webhook->service->name));
  }
  return true;
}

void add_owner(Explanation& found, const std::string& finalizer, const Holder& holder) {
  if (const FinalizerOwner* owner = find_finalizer(finalizer)) {
    found.chain.causes.push_back(fmt::format("{} removes it", owner->owner));
    found.leaves = owner->leaves;
  } else if (std::string manager = manager_of(*holder.object, finalizer); !manager.empty()) {
    found.chain.causes.push_back(fmt::format("{} added it and has to remove it", manager));
  }
}

void add_controller(Explanation& found, const std::string& finalizer, const Holder& holder, const Evidence& evidence) {
  const FinalizerOwner* owner = find_finalizer(finalizer);
  if (!evidence.workloads || (owner && owner->is_kubernetes())) {
    found.chain.next =
        fmt::format("kubectl {}get {} {} -o yaml", in_namespace(holder.key.ns), holder.key.kind, holder.key.name);
    return;
  }
  const Json* controller = controller_of(finalizer, holder, *evidence.workloads);
  if (!controller) {
    found.chain.causes.push_back("no workload with a matching name was found: its controller may be uninstalled");
    found.chain.next = fmt::format("reinstall the controller, or {}", force_advice(holder.key));
    return;
  }
  std::string ns = text((*controller)["metadata"]["namespace"]);
  std::string word = (*controller)["kind"].string_or("") == "StatefulSet" ? "statefulset" : "deployment";
  int64_t ready = (*controller)["status"]["readyReplicas"].int_or(0);
  int64_t wanted = (*controller)["spec"]["replicas"].int_or(1);
  found.chain.causes.push_back(fmt::format("{}, which seems to be its controller, has {} of {} replicas ready",
                                           kind_text(*controller), ready, wanted));
  if (ready > 0) {
    found.chain.next = fmt::format("kubectl -n {} logs {}/{}", ns, word, text((*controller)["metadata"]["name"]));
    return;
  }
  if (wanted == 0) {
    found.chain.next =
        fmt::format("kubectl -n {} scale {}/{} --replicas=1", ns, word, text((*controller)["metadata"]["name"]));
    return;
  }
  found.chain.next = fmt::format("kubectl -n {} describe {} {}", ns, word, text((*controller)["metadata"]["name"]));
  found.chain.add(readiness::why_not_ready(*controller, pointers(evidence.pods)));
  found.suspects.push_back(*controller);
}

void add_finalizers(Explanation& found, const Holder& holder, const Evidence& evidence, bool is_itself) {
  std::vector<std::string> names = finalizers_of(*holder.object);
  std::string who = is_itself ? "" : fmt::format("{}: ", holder.key.text());
  if (!is_itself) found.suspects.push_back(*holder.object);
  found.chain.causes.push_back(names.size() == 1
                                   ? fmt::format("{}finalizer {} has not been removed", who, names.front())
                                   : fmt::format("{}finalizers {} have not been removed", who, listed(names)));
  add_owner(found, names.front(), holder);
  if (!add_webhooks(found, holder, evidence)) add_controller(found, names.front(), holder, evidence);
}

void add_claim_users(Explanation& found, const Evidence& evidence) {
  std::vector<std::string> users;
  for (const Json& pod : evidence.pods) {
    if (text(pod["metadata"]["namespace"]) != evidence.key.ns) continue;
    for (const Json& volume : pod["spec"]["volumes"].items())
      if (volume["persistentVolumeClaim"]["claimName"].string_or("") == evidence.key.name)
        users.push_back(text(pod["metadata"]["name"]));
  }
  if (users.empty()) return;
  found.chain.causes.push_back(fmt::format("it is in use by {} {}", users.size() == 1 ? "pod" : "pods", listed(users)));
  found.chain.next =
      fmt::format("kubectl -n {} delete pod {}, or delete what creates it", evidence.key.ns, users.front());
}

void explain_namespace(Explanation& found, const Evidence& evidence) {
  const Json& discovery = object::condition(evidence.object, "NamespaceDeletionDiscoveryFailure");
  if (object::has_status(discovery, "True")) {
    found.chain.causes.push_back("its contents cannot be listed: API discovery fails");
    for (const Json& service : evidence.api_services) {
      const Json& available = object::condition(service, "Available");
      if (object::has_status(available, "True")) continue;
      found.chain.causes.push_back(fmt::format("APIService {} is not available: {}: {}",
                                               text(service["metadata"]["name"]), available["reason"].string_or(""),
                                               available["message"].string_or("")));
      found.chain.next = fmt::format("kubectl delete apiservice {}, if that API is no longer served",
                                     text(service["metadata"]["name"]));
      return;
    }
    found.chain.causes.push_back(text(discovery["message"]));
    found.chain.next = "kubectl get apiservices";
    return;
  }
  for (std::string_view type : {"NamespaceDeletionGroupVersionParsingFailure", "NamespaceDeletionContentFailure"})
    if (const Json& condition = object::condition(evidence.object, type); object::has_status(condition, "True")) {
      found.chain.causes.push_back(text(condition["message"]));
      found.chain.next = fmt::format("kubectl get namespace {} -o yaml", evidence.key.name);
    }
  std::vector<std::string> left;
  for (const RemainingKind& kind : remaining_in(evidence.object))
    left.push_back(fmt::format("{} {}{}{}", kind.count, kind.resource, kind.group.empty() ? "" : ".", kind.group));
  if (!left.empty()) found.chain.causes.push_back(fmt::format("remaining in it: {}", listed(left)));
  Holder holder = holder_of(evidence);
  if (holder.object && holder.object != &evidence.object) return add_finalizers(found, holder, evidence, false);
  std::vector<std::string> own;
  for (const Json& one : evidence.object["spec"]["finalizers"].items())
    if (one.string_or("") != "kubernetes") own.push_back(text(one));
  if (!own.empty()) {
    found.chain.causes.push_back(fmt::format("its spec.finalizers has {}", listed(own)));
    found.chain.next = force_advice(evidence.key);
  }
  if (!found.chain.next.empty()) return;
  if (found.chain.causes.empty())
    found.chain.causes.push_back(
        "the namespace controller of kube-controller-manager has not reported anything about it");
  found.chain.next = fmt::format("kubectl get namespace {} -o yaml", evidence.key.name);
}

void explain_definition(Explanation& found, const Evidence& evidence) {
  const Json& terminating = object::condition(evidence.object, "Terminating");
  if (terminating["reason"].string_or("") == "InstanceDeletionFailed")
    found.chain.causes.push_back(
        fmt::format("its instances cannot be deleted: {}", terminating["message"].string_or("")));
  if (!evidence.remaining.empty()) {
    std::vector<std::string> names;
    for (size_t i = 0; i < evidence.remaining.size(); ++i)
      names.push_back(key_in(evidence.remaining[i], evidence.remaining_kinds[i]).text());
    found.chain.causes.push_back(fmt::format("remaining instances: {}", listed(names)));
  }
  Holder holder = holder_of(evidence);
  if (holder.object && holder.object != &evidence.object) return add_finalizers(found, holder, evidence, false);
  if (holder.object && has_foreign_finalizer(*holder.object)) return add_finalizers(found, holder, evidence, true);
  found.chain.next = fmt::format("kubectl get customresourcedefinition {} -o yaml", evidence.key.name);
}

void explain_owned(Explanation& found, const Evidence& evidence) {
  std::vector<std::string> names;
  for (size_t i = 0; i < evidence.remaining.size(); ++i)
    names.push_back(key_in(evidence.remaining[i], evidence.remaining_kinds[i]).text());
  if (names.empty()) return;
  found.chain.causes.push_back(
      fmt::format("it is deleted after the objects that it owns; remaining: {}", listed(names)));
  Holder holder = holder_of(evidence);
  if (holder.object && holder.object != &evidence.object) return add_finalizers(found, holder, evidence, false);
  object::Key first = key_in(evidence.remaining.front(), evidence.remaining_kinds.front());
  found.chain.next = fmt::format("kubectl {}describe {} {}", in_namespace(first.ns), first.kind, first.name);
}

}  // namespace

Holder holder_of(const Evidence& evidence) {
  auto has = [](const Json& object) { return !object["metadata"]["finalizers"].items().empty(); };
  for (size_t i = 0; i < evidence.remaining.size(); ++i)
    if (has(evidence.remaining[i]))
      return {&evidence.remaining[i], key_in(evidence.remaining[i], evidence.remaining_kinds[i]),
              evidence.remaining_kinds[i]};
  if (has(evidence.object)) return {&evidence.object, evidence.key, evidence.resource};
  return {};
}

std::vector<admission::Webhook> webhooks_before(const Holder& holder, const Evidence& evidence) {
  std::vector<admission::Webhook> found;
  if (!holder.object) return found;
  admission::Attributes attributes;
  attributes.operation = admission::Operation::update;
  attributes.resource = {
      .group = holder.resource.group, .version = holder.resource.version, .resource = holder.resource.plural};
  attributes.kind = {.group = holder.resource.group, .version = holder.resource.version, .kind = holder.resource.kind};
  attributes.ns = holder.key.ns;
  attributes.name = holder.key.name;
  attributes.object = *holder.object;
  attributes.old_object = *holder.object;
  attributes.ns_object = evidence.ns;
  for (const Json& configuration : evidence.webhook_configurations)
    for (admission::Webhook& webhook : admission::read_webhooks(configuration))
      if (webhook.failure_policy == admission::FailurePolicy::fail &&
          admission::match(webhook, attributes).outcome == admission::Match::Outcome::yes)
        found.push_back(std::move(webhook));
  return found;
}

std::optional<admission::Webhook> silent_webhook(const Holder& holder, const Evidence& evidence) {
  auto is_silent = [&](const admission::Webhook& webhook) {
    if (!webhook.service || std::ranges::count(evidence.namespaces_of_slices, webhook.service->ns) == 0) return false;
    const Json* service = service_of(webhook, evidence);
    return !service || readiness::count_endpoints(*service, pointers(evidence.slices)).ready == 0;
  };
  for (admission::Webhook& webhook : webhooks_before(holder, evidence))
    if (is_silent(webhook)) return std::move(webhook);
  return std::nullopt;
}

std::string manager_of(const Json& object, std::string_view finalizer) {
  std::string entry = fmt::format("v:\"{}\"", finalizer);
  for (const Json& fields : object["metadata"]["managedFields"].items())
    if (fields["fieldsV1"]["f:metadata"]["f:finalizers"].contains(entry))
      if (std::string_view manager = fields["manager"].string_or(""); !says_nothing(manager))
        return std::string(manager);
  return {};
}

const Json* controller_of(std::string_view finalizer, const Holder& holder, const std::vector<Json>& workloads) {
  std::vector<std::string> names;
  if (const FinalizerOwner* owner = find_finalizer(finalizer)) names.emplace_back(owner->workload);
  names.push_back(manager_of(*holder.object, finalizer));
  names.push_back(domain_of(finalizer));
  names.push_back(domain_of(holder.resource.group));
  for (const std::string& name : names) {
    if (name.size() < 3 || name == "example") continue;
    auto is_named = [&](const Json& workload) {
      const Json& metadata = workload["metadata"];
      return metadata["name"].string_or("") == name ||
             metadata["labels"]["app.kubernetes.io/name"].string_or("") == name ||
             metadata["labels"]["app"].string_or("") == name;
    };
    auto is_like = [&](const Json& workload) {
      return workload["metadata"]["name"].string_or("").find(name) != std::string_view::npos;
    };
    if (auto found = std::ranges::find_if(workloads, is_named); found != workloads.end()) return &*found;
    if (auto found = std::ranges::find_if(workloads, is_like); found != workloads.end()) return &*found;
  }
  return nullptr;
}

Explanation explain(const Evidence& evidence) {
  Explanation found;
  const object::Key& key = evidence.key;
  auto carries = [&](std::string_view name) {
    return std::ranges::any_of(evidence.object["metadata"]["finalizers"].items(),
                               [&](const Json& one) { return one.string_or("") == name; });
  };
  if (is_namespace(key)) explain_namespace(found, evidence);
  else if (is_crd(key)) explain_definition(found, evidence);
  else if (carries("foregroundDeletion")) explain_owned(found, evidence);
  if (key.group.empty() && key.kind == "PersistentVolumeClaim") add_claim_users(found, evidence);
  if (key.group.empty() && key.kind == "PersistentVolume" && carries("kubernetes.io/pv-protection"))
    if (const Json& claim = evidence.object["spec"]["claimRef"]; claim.is_object()) {
      found.chain.causes.push_back(fmt::format("PersistentVolumeClaim {}/{} is bound to it",
                                               claim["namespace"].string_or(""), claim["name"].string_or("")));
      found.chain.next =
          fmt::format("kubectl -n {} delete pvc {}", claim["namespace"].string_or(""), claim["name"].string_or(""));
    }
  if (!found.chain.causes.empty()) return found;
  if (Holder holder = holder_of(evidence); holder.object) {
    add_finalizers(found, holder, evidence, holder.object == &evidence.object);
    return found;
  }
  if (std::string node = text(evidence.object["spec"]["nodeName"]); key.kind == "Pod" && !node.empty()) {
    found.chain.causes.push_back(fmt::format("the kubelet of node {} has not stopped it", node));
    found.chain.next = fmt::format("kubectl describe node {}", node);
    return found;
  }
  found.chain.causes.push_back("it has no finalizers, and nothing shows why it is still there");
  found.chain.next = fmt::format("kubectl {}get {} {} -o yaml", in_namespace(key.ns), key.kind, key.name);
  return found;
}

}  // namespace fairlead::removal
