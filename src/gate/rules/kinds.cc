#include "gate/rules/kinds.h"

#include <fmt/format.h>

#include "object/definition.h"

namespace fairlead::gate {

void CustomKinds::set(const Json& definition) {
  object::Definition read(definition);
  Kind kind{.group = std::string(read.group()),
            .kind = std::string(read.kind()),
            .plural = std::string(read.plural()),
            .versions = {},
            .converts = !read.conversion_client().is_null()};
  for (std::string_view version : read.served_versions()) kind.versions.emplace_back(version);
  kinds_[std::string(definition["metadata"]["name"].string_or(""))] = std::move(kind);
}

std::set<std::string> CustomKinds::groups() const {
  std::set<std::string> groups;
  for (const auto& [name, kind] : kinds_) groups.insert(kind.group);
  return groups;
}

const CustomKinds::Kind* CustomKinds::find(std::string_view group, std::string_view resource) const {
  // An API server takes no other name for a CRD.
  auto found = kinds_.find(fmt::format("{}.{}", resource, group));
  return found == kinds_.end() ? nullptr : &found->second;
}

std::vector<admission::Equivalent> CustomKinds::equivalents(const admission::GroupVersionResource& resource) const {
  std::vector<admission::Equivalent> others;
  const Kind* kind = find(resource.group, resource.resource);
  if (!kind) return others;
  for (const std::string& version : kind->versions) {
    if (version == resource.version) continue;
    others.push_back({.resource = {.group = kind->group, .version = version, .resource = kind->plural},
                      .kind = {.group = kind->group, .version = version, .kind = kind->kind}});
  }
  return others;
}

bool CustomKinds::converts(std::string_view group, std::string_view resource) const {
  const Kind* kind = find(group, resource);
  return kind && kind->converts;
}

bool is_group_of_a_domain(std::string_view group) { return group.contains('.') && !group.ends_with(".k8s.io"); }

std::span<const BuiltInGroup> built_in_groups() {
  static const std::vector<BuiltInGroup> kGroups = {
      {"",
       {"configmaps", "limitranges", "namespaces", "persistentvolumeclaims", "persistentvolumes", "pods",
        "podtemplates", "replicationcontrollers", "resourcequotas", "secrets", "serviceaccounts", "services"}},
      {"apiextensions.k8s.io", {"customresourcedefinitions"}},
      {"apiregistration.k8s.io", {"apiservices"}},
      {"apps", {"daemonsets", "deployments", "replicasets", "statefulsets"}},
      {"autoscaling", {"horizontalpodautoscalers"}},
      {"batch", {"cronjobs", "jobs"}},
      {"networking.k8s.io", {"ingressclasses", "ingresses", "networkpolicies"}},
      {"node.k8s.io", {"runtimeclasses"}},
      {"policy", {"poddisruptionbudgets"}},
      {"rbac.authorization.k8s.io", {"clusterrolebindings", "clusterroles", "rolebindings", "roles"}},
      {"scheduling.k8s.io", {"priorityclasses"}},
      {"storage.k8s.io", {"csidrivers", "storageclasses"}},
  };
  return kGroups;
}

}  // namespace fairlead::gate
