#include "gate/rules/exemption.h"

#include <algorithm>
#include <array>

#include "admission/exempt.h"

namespace fairlead::gate {
namespace {

using admission::Operation;

constexpr std::string_view kServiceAccount = "system:serviceaccount:";

bool is_being_deleted(const Json& object) { return !object["metadata"]["deletionTimestamp"].is_null(); }

bool is_vital_kind(const admission::GroupVersionResource& resource) {
  using Kind = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Kind, 8> kVital = {Kind{"", "nodes"},
                                                 Kind{"", "events"},
                                                 Kind{"", "endpoints"},
                                                 Kind{"", "bindings"},
                                                 Kind{"events.k8s.io", "events"},
                                                 Kind{"coordination.k8s.io", "leases"},
                                                 Kind{"discovery.k8s.io", "endpointslices"},
                                                 Kind{"certificates.k8s.io", "certificatesigningrequests"}};
  return std::ranges::find(kVital, Kind(resource.group, resource.resource)) != kVital.end();
}

bool runs_the_cluster(const admission::User& user) {
  static constexpr std::array<std::string_view, 5> kUsers = {"system:apiserver", "system:kube-controller-manager",
                                                             "system:kube-scheduler", "system:kube-proxy",
                                                             "system:cloud-controller-manager"};
  if (std::ranges::find(kUsers, user.name) != kUsers.end()) return true;
  if (user.name.starts_with("system:node:") || user.name.starts_with("system:serviceaccount:kube-system:")) return true;
  return std::ranges::find(user.groups, "system:nodes") != user.groups.end();
}

bool is_probe_of_fairlead(const webhook::Request& request) {
  return request.dry_run && request.options["fieldManager"].string_or("").starts_with("fairlead-");
}

// "team" of "system:serviceaccount:team:default"
std::string_view namespace_of_account(std::string_view name) {
  if (!name.starts_with(kServiceAccount)) return {};
  name.remove_prefix(kServiceAccount.size());
  return name.substr(0, name.find(':'));
}

}  // namespace

std::string_view exemption(const webhook::Request& request, std::string_view own_namespace) {
  if (request.operation != Operation::create && request.operation != Operation::update) return "it is no write";
  if (!request.subresource.empty()) return "it is for a subresource";
  if (is_being_deleted(request.object) || is_being_deleted(request.old_object)) return "the object is being deleted";
  if (is_vital_kind(request.resource) || admission::is_exempt_from_webhooks(request.resource))
    return "the cluster needs objects of this kind";
  if (runs_the_cluster(request.user)) return "the user runs the cluster";
  if (request.ns == "kube-system" || request.ns == "kube-node-lease") return "it is in a namespace of the cluster";
  if (!own_namespace.empty() && request.ns == own_namespace) return "it is in the namespace of the gate";
  if (is_probe_of_fairlead(request)) return "it is a probe of Fairlead";
  return {};
}

bool is_service_account(const admission::User& user) { return user.name.starts_with(kServiceAccount); }

bool may_back(const webhook::Request& request, const Hook& awaited, const std::set<std::string, std::less<>>& backing,
              const CustomKinds& kinds) {
  if (backing.contains(namespace_of_account(request.user.name))) return true;
  bool is_custom =
      is_group_of_a_domain(request.resource.group) || kinds.contains(request.resource.group, request.resource.resource);
  bool is_namespace = request.resource.group.empty() && request.resource.resource == "namespaces";
  if (is_custom) return backing.contains(request.ns) && !awaited.names_group(request.resource.group);
  // To admission, the namespace of a Namespace is its own name.
  if (request.ns.empty() && !is_namespace) return true;
  return backing.contains(is_namespace ? request.name : request.ns);
}

}  // namespace fairlead::gate
