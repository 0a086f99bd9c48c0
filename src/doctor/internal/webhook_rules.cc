#include <algorithm>

#include "admission/match.h"
#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/reach.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

using admission::FailurePolicy;
using admission::Operation;
using admission::Webhook;

// Gardener's limits for webhooks on resources that the cluster itself needs, and for the Leases that keep nodes and
// controllers alive. 30 s is the most that Kubernetes allows.
constexpr int kSlowOnCritical = 15;
constexpr int kSlowOnLeases = 3;
constexpr int kLongest = 30;

struct Critical {
  object::Resource resource;
  // Empty for resources without namespaces.
  std::string ns;
  // The subresources that count as well.
  std::vector<std::string> subresources;
};

Critical critical(std::string group, std::string version, std::string kind, std::string plural, std::string ns = {},
                  std::vector<std::string> subresources = {}) {
  bool namespaced = !ns.empty();
  return {.resource = {.group = std::move(group),
                       .version = std::move(version),
                       .kind = std::move(kind),
                       .plural = std::move(plural),
                       .namespaced = namespaced},
          .ns = std::move(ns),
          .subresources = std::move(subresources)};
}

// Gardener's list: without these, nodes, controllers or the API itself stop working.
const std::vector<Critical>& critical_resources() {
  static const std::vector<Critical> kAll = {
      critical("", "v1", "Node", "nodes", "", {"status"}),
      critical("coordination.k8s.io", "v1", "Lease", "leases", "kube-system"),
      critical("coordination.k8s.io", "v1", "Lease", "leases", "kube-node-lease"),
      critical("certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", "",
               {"status", "approval"}),
      critical("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", "", {"status"}),
      critical("apiregistration.k8s.io", "v1", "APIService", "apiservices", "", {"status"}),
      critical("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles"),
      critical("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings"),
      critical("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses"),
      critical("", "v1", "Namespace", "namespaces", "", {"status", "finalize"}),
      critical("", "v1", "Pod", "pods", "kube-system", {"status"}),
      critical("apps", "v1", "DaemonSet", "daemonsets", "kube-system", {"status"}),
      critical("apps", "v1", "Deployment", "deployments", "kube-system", {"status", "scale"}),
      critical("apps", "v1", "ReplicaSet", "replicasets", "kube-system", {"status", "scale"}),
      critical("apps", "v1", "StatefulSet", "statefulsets", "kube-system", {"status", "scale"}),
      critical("", "v1", "Endpoints", "endpoints", "kube-system"),
      critical("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", "kube-system"),
      critical("", "v1", "Service", "services", "default", {"status"}),
  };
  return kAll;
}

// True if the webhook certainly matches objects without labels there, or this subresource of them. With matchConditions
// that is not certain.
bool matches(const Snapshot& snapshot, const Webhook& webhook, const Critical& one, const std::string& subresource) {
  if (!webhook.conditions.empty()) return false;
  admission::Attributes request = request_for(snapshot, one.resource, one.ns);
  request.subresource = subresource;
  // A namespace that was not read has at least the label that every namespace has.
  if (!one.ns.empty() && request.ns_object.is_null())
    request.ns_object =
        Json::Object{{"metadata", Json::Object{{"name", one.ns},
                                               {"labels", Json::Object{{"kubernetes.io/metadata.name", one.ns}}}}}};
  return std::ranges::any_of(std::to_array({Operation::create, Operation::update}), [&](Operation operation) {
    request.operation = operation;
    return admission::match(webhook, request).outcome == admission::Match::Outcome::yes;
  });
}

// "pods/status in kube-system", "nodes"
std::string critical_text(const Critical& one, const std::string& subresource) {
  std::string name = one.resource.plural;
  if (!subresource.empty()) name += "/" + subresource;
  if (!one.resource.group.empty()) name += "." + one.resource.group;
  return one.ns.empty() ? name : fmt::format("{} in {}", name, one.ns);
}

std::vector<std::string> critical_texts(const Snapshot& snapshot, const Webhook& webhook) {
  std::vector<std::string> texts;
  for (const Critical& one : critical_resources()) {
    if (matches(snapshot, webhook, one, "")) texts.push_back(critical_text(one, ""));
    for (const std::string& subresource : one.subresources)
      if (matches(snapshot, webhook, one, subresource)) texts.push_back(critical_text(one, subresource));
  }
  return texts;
}

bool matches_leases(const Snapshot& snapshot, const Webhook& webhook) {
  return std::ranges::any_of(critical_resources(), [&](const Critical& one) {
    return one.resource.kind == "Lease" && matches(snapshot, webhook, one, "");
  });
}

void check_critical(const Webhook& webhook, const std::vector<std::string>& guarded, Findings& findings) {
  if (guarded.empty() || webhook.failure_policy != FailurePolicy::fail) return;
  findings.push_back({.code = "webhook-critical",
                      .severity = Severity::warning,
                      .object = key_of(webhook),
                      .what = fmt::format("{} can stop the cluster if it does not answer", text_of(webhook)),
                      .causes = {fmt::format("with failurePolicy Fail it guards {}", listed(guarded))},
                      .next = get_command(key_of(webhook))});
}

void check_timeout(const Snapshot& snapshot, const Webhook& webhook, const std::vector<std::string>& guarded,
                   Findings& findings) {
  int seconds = webhook.timeout_seconds;
  std::string cause;
  Severity severity = Severity::warning;
  if (seconds > kSlowOnLeases && matches_leases(snapshot, webhook))
    cause = fmt::format(
        "it guards Leases, which are renewed every few seconds: more than {} s is too long, even with "
        "failurePolicy Ignore",
        kSlowOnLeases);
  else if (seconds > kSlowOnCritical && !guarded.empty())
    cause = fmt::format("it guards {}: more than {} s is too long there", listed(guarded), kSlowOnCritical);
  else if (seconds >= kLongest) {
    cause = "many clients give up after 30 s themselves, and several webhooks add up";
    severity = Severity::info;
  }
  if (cause.empty()) return;
  findings.push_back({.code = "webhook-slow",
                      .severity = severity,
                      .object = key_of(webhook),
                      .what = fmt::format("{} can hold requests up for {} s", text_of(webhook), seconds),
                      .causes = {std::move(cause)},
                      .next = get_command(key_of(webhook))});
}

// Namespaces that are left out on purpose: those of Kubernetes, and the webhook's own.
bool is_usually_exempt(std::string_view ns, const Webhook& webhook) {
  return ns.starts_with("kube-") || (webhook.service && webhook.service->ns == ns);
}

void check_reach(const Snapshot& snapshot, const Webhook& webhook, Findings& findings) {
  Reach reach = reach_of(snapshot, webhook);
  Finding finding{.code = "webhook-matches-nothing", .object = key_of(webhook), .next = get_command(key_of(webhook))};
  if (reach.matches_nothing()) {
    if (snapshot.resources.empty()) return;
    finding.what = fmt::format("{} is never called", text_of(webhook));
    finding.causes = {"the API server serves nothing that its rules match"};
    return findings.push_back(std::move(finding));
  }
  if (!snapshot.sees_all("Namespace") || !reach.has_namespaced) return;
  if (reach.namespaces.empty() && !reach.has_cluster_scope) {
    finding.code = "webhook-matches-no-namespace";
    finding.what = fmt::format("{} is never called", text_of(webhook));
    finding.causes = {"no namespace has the labels that its namespaceSelector asks for"};
    finding.next = "kubectl get namespaces --show-labels";
    return findings.push_back(std::move(finding));
  }
  std::erase_if(reach.exempt, [&](const std::string& ns) { return is_usually_exempt(ns, webhook); });
  if (reach.exempt.empty()) return;
  finding.code = "webhook-namespaces-exempt";
  finding.severity = Severity::info;
  finding.what = fmt::format("{} is not called for {}", text_of(webhook), counted(reach.exempt.size(), "namespace"));
  finding.causes = {fmt::format("its namespaceSelector does not match {}", listed(reach.exempt))};
  finding.next = "kubectl get namespaces --show-labels";
  for (const std::string& ns : reach.exempt)
    finding.related.push_back({.group = "", .kind = "Namespace", .ns = {}, .name = ns});
  findings.push_back(std::move(finding));
}

// The pods of the webhook's own Service, as requests to create them.
bool guards_own_pods(const Snapshot& snapshot, const Webhook& webhook, const Json& service) {
  object::Resource pods{.group = "", .version = "v1", .kind = "Pod", .plural = "pods", .namespaced = true};
  admission::Attributes request = request_for(snapshot, pods, webhook.service->ns);
  if (request.ns_object.is_null()) return false;
  auto is_guarded = [&](Json pod) {
    request.object = std::move(pod);
    return admission::match(webhook, request).outcome == admission::Match::Outcome::yes;
  };
  for (const Json* workload : workloads_behind(snapshot, service))
    if (is_guarded((*workload)["spec"]["template"])) return true;
  return std::ranges::any_of(pods_behind(snapshot, service), [&](const Json* pod) { return is_guarded(*pod); });
}

void check_itself(const Snapshot& snapshot, const Webhook& webhook, Findings& findings) {
  if (!webhook.service || webhook.failure_policy != FailurePolicy::fail || !webhook.conditions.empty()) return;
  const Json* service = snapshot.find("Service", webhook.service->ns, webhook.service->name);
  if (!service || !guards_own_pods(snapshot, webhook, *service)) return;
  findings.push_back({.code = "webhook-guards-itself",
                      .severity = Severity::warning,
                      .object = key_of(webhook),
                      .what = fmt::format("{} guards its own pods", text_of(webhook)),
                      .causes = {fmt::format("if all pods of service {}/{} stop, none can be created again, because "
                                             "creating one needs the webhook",
                                             webhook.service->ns, webhook.service->name)},
                      .next = fmt::format("exempt namespace {} with a namespaceSelector: {}", webhook.service->ns,
                                          get_command(key_of(webhook)))});
}

void check_dry_run(const Webhook& webhook, Findings& findings) {
  using SideEffects = Webhook::SideEffects;
  if (webhook.side_effects == SideEffects::none || webhook.side_effects == SideEffects::none_on_dry_run) return;
  findings.push_back(
      {.code = "webhook-no-dry-run",
       .severity = Severity::info,
       .object = key_of(webhook),
       .what = fmt::format("{} forbids dry runs of what it guards", text_of(webhook)),
       .causes = {"its sideEffects is neither None nor NoneOnDryRun, so the API server refuses dry runs"},
       .next = get_command(key_of(webhook))});
}

}  // namespace

void check_webhook_rules(const Snapshot& snapshot, Findings& findings) {
  for (const Webhook& webhook : webhooks_of(snapshot)) {
    std::vector<std::string> guarded = critical_texts(snapshot, webhook);
    check_critical(webhook, guarded, findings);
    check_timeout(snapshot, webhook, guarded, findings);
    check_reach(snapshot, webhook, findings);
    check_itself(snapshot, webhook, findings);
    check_dry_run(webhook, findings);
  }
}

}  // namespace fairlead::doctor
