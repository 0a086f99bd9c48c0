#include "removal/diagnosis/namespaced_kinds.h"

#include <algorithm>
#include <span>

namespace fairlead::removal {
namespace {

using GroupAndKind = std::pair<std::string_view, std::string_view>;

// How many kinds that do not belong to Kubernetes itself are selected.
constexpr size_t kCustomKinds = 15;

constexpr GroupAndKind kOwnKinds[] = {{"", "ConfigMap"},
                                      {"", "PersistentVolumeClaim"},
                                      {"", "Pod"},
                                      {"", "Secret"},
                                      {"", "Service"},
                                      {"apps", "DaemonSet"},
                                      {"apps", "Deployment"},
                                      {"apps", "StatefulSet"},
                                      {"batch", "CronJob"},
                                      {"batch", "Job"},
                                      {"networking.k8s.io", "Ingress"}};

constexpr GroupAndKind kSupportingKinds[] = {{"", "ServiceAccount"},
                                             {"apps", "ReplicaSet"},
                                             {"autoscaling", "HorizontalPodAutoscaler"},
                                             {"networking.k8s.io", "NetworkPolicy"},
                                             {"policy", "PodDisruptionBudget"},
                                             {"rbac.authorization.k8s.io", "Role"},
                                             {"rbac.authorization.k8s.io", "RoleBinding"}};

std::vector<object::Resource> found_of(const kube::Discovered& known, std::span<const GroupAndKind> wanted) {
  std::vector<object::Resource> kinds;
  for (const auto& [group, kind] : wanted)
    if (const object::Resource* resource = known.find(group, kind)) kinds.push_back(*resource);
  return kinds;
}

}  // namespace

NamespacedKinds namespaced_kinds(const kube::Discovered& known) {
  NamespacedKinds found{.kinds = found_of(known, kOwnKinds)};
  size_t custom = 0;
  for (const object::Resource& resource : known.resources()) {
    bool is_custom = resource.group.find('.') != std::string::npos && !resource.group.ends_with(".k8s.io");
    if (!is_custom || !resource.namespaced || !resource.can("list") || !resource.can("delete")) continue;
    auto is_known = [&](const object::Resource& one) {
      return one.group == resource.group && one.kind == resource.kind;
    };
    if (std::ranges::any_of(found.kinds, is_known)) continue;
    if (++custom > kCustomKinds) found.incomplete = true;
    else found.kinds.push_back(resource);
  }
  return found;
}

std::vector<object::Resource> all_namespaced_kinds(const kube::Discovered& known) {
  std::vector<object::Resource> kinds;
  for (const object::Resource& resource : known.resources()) {
    if (!resource.namespaced || !resource.can("list") || !resource.can("delete")) continue;
    auto is_known = [&](const object::Resource& one) {
      return one.group == resource.group && one.kind == resource.kind;
    };
    if (std::ranges::none_of(kinds, is_known)) kinds.push_back(resource);
  }
  return kinds;
}

std::vector<object::Resource> supporting_kinds(const kube::Discovered& known) {
  return found_of(known, kSupportingKinds);
}

}  // namespace fairlead::removal
