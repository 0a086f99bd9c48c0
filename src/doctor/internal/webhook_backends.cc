#include <algorithm>
#include <set>

#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/texts.h"
#include "object/selector.h"
#include "readiness/why.h"

namespace fairlead::doctor {
namespace {

using admission::Webhook;

// What the webhooks with failurePolicy Fail behind one Service have in common.
struct Group {
  admission::ServiceReference reference;
  const Json* service = nullptr;
  std::vector<Webhook> webhooks;

  std::string text() const {
    return webhooks.size() == 1
               ? text_of(webhooks.front())
               : fmt::format("{} and {} more behind the same service", text_of(webhooks.front()), webhooks.size() - 1);
  }
};

// The webhooks that can be called, by their Service.
std::vector<Group> groups_of(const Snapshot& snapshot) {
  std::vector<Group> groups;
  for (Webhook& webhook : webhooks_of(snapshot)) {
    if (!webhook.service || outage_of(snapshot, *webhook.service)) continue;
    const Json* service = snapshot.find("Service", webhook.service->ns, webhook.service->name);
    if (!service) continue;
    auto is_same = [&](const Group& group) { return group.service == service; };
    auto group = std::ranges::find_if(groups, is_same);
    if (group == groups.end()) group = groups.insert(groups.end(), {*webhook.service, service, {}});
    group->webhooks.push_back(std::move(webhook));
  }
  return groups;
}

bool selects(const Json& label_selector, const Json& labels) {
  Result<object::Selector> selector = object::Selector::from_json(label_selector);
  return selector && selector->matches(labels);
}

bool has_budget(const Snapshot& snapshot, const Json& workload) {
  return std::ranges::any_of(
      snapshot.in_namespace("PodDisruptionBudget", namespace_of(workload)), [&](const Json* budget) {
        return selects((*budget)["spec"]["selector"], workload["spec"]["template"]["metadata"]["labels"]);
      });
}

// The labels that the pods of a workload have: "app=hook,tier=api".
std::string selector_of(const Json& workload) {
  const Json& labels = workload["spec"]["selector"]["matchLabels"].members().empty()
                           ? workload["spec"]["template"]["metadata"]["labels"]
                           : workload["spec"]["selector"]["matchLabels"];
  std::string text;
  for (const Json::Member& label : labels.members())
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", label.key, label.value.string_or(""));
  return text;
}

void check_replicas(const Snapshot& snapshot, const Group& group, Findings& findings) {
  std::vector<const Json*> workloads = workloads_behind(snapshot, *group.service);
  if (workloads.size() != 1 || (*workloads[0])["kind"].string_or("") == "DaemonSet") return;
  object::Key workload = key_of(*workloads[0]);
  Finding finding{.code = "webhook-single-replica",
                  .severity = Severity::warning,
                  .object = key_of(group.webhooks.front()),
                  .what = fmt::format("{} has a single replica: {}", group.text(), workload.text()),
                  .next = fmt::format("kubectl -n {} scale {}/{} --replicas=2", workload.ns,
                                      workload.kind == "StatefulSet" ? "statefulset" : "deployment", workload.name),
                  .related = {workload}};
  int64_t replicas = (*workloads[0])["spec"]["replicas"].int_or(1);
  if (replicas == 0) return;
  if (replicas == 1) return findings.push_back(std::move(finding));
  if (!snapshot.sees_all("PodDisruptionBudget") || has_budget(snapshot, *workloads[0])) return;
  finding.code = "webhook-no-budget";
  finding.severity = Severity::info;
  finding.what = fmt::format("{} has no PodDisruptionBudget: draining nodes can stop all replicas of {} at once",
                             group.text(), workload.text());
  finding.next = fmt::format("kubectl -n {} create poddisruptionbudget {} --min-available=1 --selector={}", workload.ns,
                             workload.name, selector_of(*workloads[0]));
  findings.push_back(std::move(finding));
}

bool is_for_ingress(const Json& policy) {
  const Json& types = policy["spec"]["policyTypes"];
  if (types.items().empty()) return true;
  return std::ranges::any_of(types.items(), [](const Json& type) { return type.string_or("") == "Ingress"; });
}

// The API server is not a pod, so no podSelector or namespaceSelector matches it: it passes only where everybody or a
// range of addresses does.
bool lets_the_api_server_in(const Json& rule) {
  const Json& from = rule["from"];
  if (from.items().empty()) return true;
  return std::ranges::any_of(from.items(), [](const Json& peer) { return peer["ipBlock"].is_object(); });
}

bool opens(const Json& policy, const std::set<std::string>& ports) {
  return std::ranges::any_of(policy["spec"]["ingress"].items(), [&](const Json& rule) {
    if (!lets_the_api_server_in(rule)) return false;
    if (rule["ports"].items().empty()) return true;
    return std::ranges::any_of(rule["ports"].items(), [&](const Json& port) {
      // A range is believed.
      if (port["port"].is_null() || port.contains("endPort")) return true;
      std::string text =
          port["port"].is_string() ? std::string(port["port"].string_or("")) : std::to_string(port["port"].int_or(0));
      return ports.contains(text);
    });
  });
}

// The port of the pod that the webhook's port of the Service leads to: its number, its name, or both.
std::set<std::string> target_ports(const Group& group, const Json& pod) {
  std::set<std::string> names;
  for (const Json& port : (*group.service)["spec"]["ports"].items()) {
    if (port["port"].int_or(0) != group.reference.port) continue;
    const Json& target = port["targetPort"];
    names.insert(target.is_string() ? std::string(target.string_or(""))
                                    : std::to_string(target.int_or(group.reference.port)));
  }
  for (const Json& container : pod["spec"]["containers"].items())
    for (const Json& port : container["ports"].items()) {
      std::string number = std::to_string(port["containerPort"].int_or(0));
      std::string name(port["name"].string_or(""));
      if (names.contains(number) && !name.empty()) names.insert(name);
      if (names.contains(name)) names.insert(number);
    }
  return names;
}

void check_network(const Snapshot& snapshot, const Group& group, Findings& findings) {
  std::vector<const Json*> pods = pods_behind(snapshot, *group.service);
  if (pods.empty() || (*pods[0])["spec"]["hostNetwork"].bool_or(false)) return;
  const Json& pod = *pods[0];
  std::set<std::string> ports = target_ports(group, pod);
  std::vector<const Json*> closing;
  for (const Json* policy : snapshot.in_namespace("NetworkPolicy", group.reference.ns)) {
    if (!is_for_ingress(*policy) || !selects((*policy)["spec"]["podSelector"], pod["metadata"]["labels"])) continue;
    if (opens(*policy, ports)) return;
    closing.push_back(policy);
  }
  if (closing.empty()) return;
  object::Key policy = key_of(*closing.front());
  findings.push_back({.code = "webhook-network-policy",
                      .severity = Severity::warning,
                      .object = key_of(group.webhooks.front()),
                      .what = fmt::format("the API server may not reach {}", group.text()),
                      .causes = {fmt::format("{} selects its pods, and no rule lets in what is not a pod: an ipBlock, "
                                             "or a rule without `from`",
                                             policy.text())},
                      .next = get_command(policy),
                      .related = {policy}});
}

}  // namespace

void check_webhook_backends(const Snapshot& snapshot, Findings& findings) {
  for (Group& group : groups_of(snapshot)) {
    check_network(snapshot, group, findings);
    std::erase_if(group.webhooks,
                  [](const Webhook& one) { return one.failure_policy != admission::FailurePolicy::fail; });
    if (!group.webhooks.empty()) check_replicas(snapshot, group, findings);
  }
}

}  // namespace fairlead::doctor
