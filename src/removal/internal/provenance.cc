#include "removal/internal/provenance.h"

#include <algorithm>
#include <array>

#include "inventory/applyset.h"

namespace fairlead::removal {
namespace {

constexpr std::array<std::string_view, 8> kWorkloads{"Deployment", "StatefulSet", "DaemonSet",      "ReplicaSet",
                                                     "Job",        "CronJob",     "ServiceAccount", "Pod"};
// The field managers of Kubernetes itself.
constexpr std::array<std::string_view, 5> kKubernetes{"kube-controller-manager", "kube-scheduler", "kubelet",
                                                      "kube-apiserver", "cloud-controller-manager"};
// ConfigMaps that Kubernetes, OpenShift and Istio create in every namespace.
constexpr std::array<std::string_view, 3> kRootCertificates{"kube-root-ca.crt", "openshift-service-ca.crt",
                                                            "istio-ca-root-cert"};

// True if one name is the other with a prefix or suffix: "a" and "a-b", or "b" and "a-b".
bool is_akin(std::string_view one, std::string_view other) {
  if (one.size() > other.size()) std::swap(one, other);
  if (one == other) return true;
  if (one.empty() || one.size() + 1 > other.size()) return false;
  return (other.starts_with(one) && other[one.size()] == '-') ||
         (other.ends_with(one) && other[other.size() - one.size() - 1] == '-');
}

}  // namespace

bool is_in_every_namespace(const object::Key& key) {
  if (key.kind == "Event" && (key.group.empty() || key.group == "events.k8s.io")) return true;
  if (key.kind == "Lease" && key.group == "coordination.k8s.io") return true;
  if (!key.group.empty()) return false;
  if (key.kind == "ServiceAccount") return key.name == "default";
  return key.kind == "ConfigMap" && std::ranges::find(kRootCertificates, key.name) != kRootCertificates.end();
}

void Provenance::add(const object::Key& key, std::string_view uid) {
  if (!uid.empty()) uids_.emplace(uid);
  if (key.kind == "StatefulSet") stateful_.emplace(key.ns, key.name);
  bool is_workload = std::ranges::find(kWorkloads, key.kind) != kWorkloads.end();
  if (is_workload && key.name != "default") workloads_.insert(key.name);
}

MadeBy Provenance::of(const object::Key& key, const Json& object) const {
  const Json& metadata = object["metadata"];
  // It is being deleted anyway.
  if (metadata.contains("deletionTimestamp")) return MadeBy::ours;
  if (std::string_view record_of = metadata["labels"][inventory::kIdLabel].string_or(""); !record_of.empty())
    return bundle_ && record_of == bundle_->label_value ? MadeBy::ours : MadeBy::bundles;
  if (is_in_every_namespace(key) || is_owned(metadata)) return MadeBy::ours;
  if (bundle_ && inventory::membership(object, *bundle_) == inventory::Membership::member) return MadeBy::ours;
  if (inventory::owner_of(object)) return MadeBy::bundles;
  if (key.kind == "Endpoints" && metadata["labels"].contains("endpoints.kubernetes.io/managed-by")) return MadeBy::ours;
  // The token of a ServiceAccount is deleted with the account.
  if (key.kind == "Secret" && metadata["annotations"].contains("kubernetes.io/service-account.name"))
    return MadeBy::ours;
  // A PersistentVolumeClaim is data, so it is not enough that a controller made it.
  if (key.kind == "PersistentVolumeClaim" && key.group.empty())
    return is_claim_of_ours(key) ? MadeBy::ours : MadeBy::others;
  return is_written_by_programs(metadata) ? MadeBy::ours : MadeBy::others;
}

bool Provenance::is_owned(const Json& metadata) const {
  return std::ranges::any_of(metadata["ownerReferences"].items(), [this](const Json& owner) {
    if (uids_.contains(owner["uid"].string_or(""))) return true;
    std::string_view version = owner["apiVersion"].string_or("");
    size_t slash = version.find('/');
    std::string group(slash == std::string_view::npos ? "" : version.substr(0, slash));
    return !is_cluster_wide_(group, std::string(owner["kind"].string_or("")));
  });
}

// True for a claim of a StatefulSet that is deleted: "data-db-0" belongs to StatefulSet db.
bool Provenance::is_claim_of_ours(const object::Key& key) const {
  size_t dash = key.name.rfind('-');
  if (dash == std::string::npos || dash + 1 == key.name.size()) return false;
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!std::ranges::all_of(key.name.substr(dash + 1), is_digit)) return false;
  std::string_view rest = std::string_view(key.name).substr(0, dash);
  return std::ranges::any_of(stateful_, [&](const auto& one) {
    return one.first == key.ns && rest.size() > one.second.size() + 1 && rest.ends_with("-" + one.second);
  });
}

bool Provenance::is_written_by_programs(const Json& metadata) const {
  bool any = false;
  for (const Json& entry : metadata["managedFields"].items()) {
    if (!entry["subresource"].string_or("").empty()) continue;
    if (!is_program(entry["manager"].string_or(""))) return false;
    any = true;
  }
  return any;
}

bool Provenance::is_program(std::string_view manager) const {
  if (std::ranges::find(kKubernetes, manager) != kKubernetes.end()) return true;
  return std::ranges::any_of(workloads_, [&](const std::string& workload) { return is_akin(manager, workload); });
}

}  // namespace fairlead::removal
