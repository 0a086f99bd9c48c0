// Manifests in versions of APIs that are removed or will be.
#include <algorithm>
#include <array>

#include "base/plain_text.h"
#include "doctor/checks.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

struct Deprecated {
  std::string_view api_version;
  // Separated by spaces.
  std::string_view kinds;
  // The release that no longer serves it; empty if that is not decided.
  std::string_view removed_in;
  // The version to use instead; empty if there is none.
  std::string_view instead;
};

// From Kubernetes' deprecated API migration guide, and since 1.33 from the lifecycles that its own types declare. A
// beta version that nothing replaces yet is not listed.
constexpr auto kDeprecated = std::to_array<Deprecated>({
    {"extensions/v1beta1", "Deployment DaemonSet ReplicaSet", "1.16", "apps/v1"},
    {"extensions/v1beta1", "NetworkPolicy", "1.16", "networking.k8s.io/v1"},
    {"extensions/v1beta1", "PodSecurityPolicy", "1.16", ""},
    {"extensions/v1beta1", "Ingress", "1.22", "networking.k8s.io/v1"},
    {"apps/v1beta1", "Deployment StatefulSet ReplicaSet ControllerRevision", "1.16", "apps/v1"},
    {"apps/v1beta2", "Deployment StatefulSet DaemonSet ReplicaSet ControllerRevision", "1.16", "apps/v1"},
    {"admissionregistration.k8s.io/v1beta1", "ValidatingWebhookConfiguration MutatingWebhookConfiguration", "1.22",
     "admissionregistration.k8s.io/v1"},
    {"apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "1.22", "apiextensions.k8s.io/v1"},
    {"apiregistration.k8s.io/v1beta1", "APIService", "1.22", "apiregistration.k8s.io/v1"},
    {"authentication.k8s.io/v1beta1", "TokenReview", "1.22", "authentication.k8s.io/v1"},
    {"authorization.k8s.io/v1beta1",
     "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview", "1.22",
     "authorization.k8s.io/v1"},
    {"certificates.k8s.io/v1beta1", "CertificateSigningRequest", "1.22", "certificates.k8s.io/v1"},
    {"coordination.k8s.io/v1beta1", "Lease", "1.22", "coordination.k8s.io/v1"},
    {"networking.k8s.io/v1beta1", "Ingress IngressClass", "1.22", "networking.k8s.io/v1"},
    {"rbac.authorization.k8s.io/v1beta1", "ClusterRole ClusterRoleBinding Role RoleBinding", "1.22",
     "rbac.authorization.k8s.io/v1"},
    {"scheduling.k8s.io/v1beta1", "PriorityClass", "1.22", "scheduling.k8s.io/v1"},
    {"storage.k8s.io/v1beta1", "CSIDriver CSINode StorageClass VolumeAttachment", "1.22", "storage.k8s.io/v1"},
    {"batch/v1beta1", "CronJob", "1.25", "batch/v1"},
    {"discovery.k8s.io/v1beta1", "EndpointSlice", "1.25", "discovery.k8s.io/v1"},
    {"events.k8s.io/v1beta1", "Event", "1.25", "events.k8s.io/v1"},
    {"autoscaling/v2beta1", "HorizontalPodAutoscaler", "1.25", "autoscaling/v2"},
    {"node.k8s.io/v1beta1", "RuntimeClass", "1.25", "node.k8s.io/v1"},
    {"policy/v1beta1", "PodDisruptionBudget Eviction", "1.25", "policy/v1"},
    {"policy/v1beta1", "PodSecurityPolicy", "1.25", ""},
    {"autoscaling/v2beta2", "HorizontalPodAutoscaler", "1.26", "autoscaling/v2"},
    {"flowcontrol.apiserver.k8s.io/v1beta1", "FlowSchema PriorityLevelConfiguration", "1.26",
     "flowcontrol.apiserver.k8s.io/v1"},
    {"storage.k8s.io/v1beta1", "CSIStorageCapacity", "1.27", "storage.k8s.io/v1"},
    {"flowcontrol.apiserver.k8s.io/v1beta2", "FlowSchema PriorityLevelConfiguration", "1.29",
     "flowcontrol.apiserver.k8s.io/v1"},
    {"flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema PriorityLevelConfiguration", "1.32",
     "flowcontrol.apiserver.k8s.io/v1"},
    {"authentication.k8s.io/v1beta1", "SelfSubjectReview", "1.33", "authentication.k8s.io/v1"},
    {"admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding", "1.34",
     "admissionregistration.k8s.io/v1"},
    {"networking.k8s.io/v1beta1", "IPAddress ServiceCIDR", "1.37", "networking.k8s.io/v1"},
    {"storage.k8s.io/v1beta1", "VolumeAttributesClass", "1.37", "storage.k8s.io/v1"},
    {"resource.k8s.io/v1beta1", "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice", "1.38",
     "resource.k8s.io/v1"},
    {"resource.k8s.io/v1beta2", "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice", "1.39",
     "resource.k8s.io/v1"},
    {"admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding", "1.40",
     "admissionregistration.k8s.io/v1"},
    {"certificates.k8s.io/v1beta1", "ClusterTrustBundle PodCertificateRequest", "1.40", "certificates.k8s.io/v1"},
    {"storagemigration.k8s.io/v1beta1", "StorageVersionMigration", "1.40", "storagemigration.k8s.io/v1"},
    {"v1", "ComponentStatus", "", ""},
    {"v1", "Endpoints", "", "discovery.k8s.io/v1, kind EndpointSlice"},
});

bool has_word(std::string_view words, std::string_view wanted) {
  while (!words.empty()) {
    size_t space = words.find(' ');
    if (words.substr(0, space) == wanted) return true;
    words = space == std::string_view::npos ? std::string_view() : words.substr(space + 1);
  }
  return false;
}

const Deprecated* find(std::string_view api_version, std::string_view kind) {
  auto found = std::ranges::find_if(
      kDeprecated, [&](const Deprecated& one) { return one.api_version == api_version && has_word(one.kinds, kind); });
  return found == kDeprecated.end() ? nullptr : &*found;
}

// What the cluster serves of the object's kind.
struct Served {
  bool as_written = false;
  // Another version of the same kind and group; empty if there is none.
  std::string other;
};
Served served(const Snapshot& snapshot, const Json& object) {
  Served served;
  object::Key key = key_of(object);
  for (const object::Resource& one : snapshot.resources) {
    if (one.kind != key.kind || one.group != key.group) continue;
    if (one.api_version() == object["apiVersion"].string_or("")) served.as_written = true;
    else if (served.other.empty()) served.other = one.api_version();
  }
  return served;
}

// Says what the CRD says about a version that it declares deprecated; empty if it does not.
std::string deprecation_of(const Snapshot& snapshot, const Json& object) {
  object::Key key = key_of(object);
  std::string_view api_version = object["apiVersion"].string_or("");
  for (const Json& definition : snapshot.all("CustomResourceDefinition")) {
    const Json& spec = definition["spec"];
    if (spec["group"].string_or("") != key.group || spec["names"]["kind"].string_or("") != key.kind) continue;
    for (const Json& version : spec["versions"].items()) {
      std::string name = fmt::format("{}/{}", key.group, version["name"].string_or(""));
      if (name != api_version || !version["deprecated"].bool_or(false)) continue;
      std::string warning = plain_text(version["deprecationWarning"].string_or(""), kMessageBytes);
      return warning.empty() ? fmt::format("{} declares it deprecated", key_of(definition).text()) : warning;
    }
  }
  return {};
}

// The bundle may bring the CRD of the object with it.
bool is_defined_in(const std::vector<Json>& bundle, const object::Key& key) {
  return std::ranges::any_of(bundle, [&](const Json& one) {
    return one["kind"].string_or("") == "CustomResourceDefinition" && one["spec"]["group"].string_or("") == key.group &&
           one["spec"]["names"]["kind"].string_or("") == key.kind;
  });
}

std::string advice(std::string_view instead) {
  return instead.empty() ? "it has no replacement: leave the object out"
                         : fmt::format("write apiVersion: {}, and compare the fields", instead);
}

std::optional<Finding> judge(const Snapshot& snapshot, const std::vector<Json>& bundle, const Json& object) {
  object::Key key = key_of(object);
  std::string_view api_version = object["apiVersion"].string_or("");
  const Deprecated* known = find(api_version, key.kind);
  Served here = served(snapshot, object);
  bool is_gone = !here.as_written && (known || !here.other.empty()) && !is_defined_in(bundle, key);
  std::string declared = deprecation_of(snapshot, object);
  if (!known && !is_gone && declared.empty()) return std::nullopt;
  std::string instead(known ? known->instead : std::string_view(here.other));
  Finding finding{.code = "deprecated-api-in-manifests",
                  .severity = is_gone ? Severity::error : Severity::warning,
                  .object = key,
                  .what = fmt::format("{} is written in {}, which {}", key.text(), api_version,
                                      is_gone ? "this cluster does not serve" : "is deprecated"),
                  .next = known || !instead.empty() ? advice(instead)
                                                    : fmt::format("kubectl api-resources --api-group={}", key.group)};
  if (known && !known->removed_in.empty())
    finding.causes.push_back(fmt::format("Kubernetes {} does not have it", known->removed_in));
  if (!declared.empty()) finding.causes.push_back(std::move(declared));
  if (is_gone && !known) finding.causes.push_back(fmt::format("it serves {} in {}", key.kind, here.other));
  if (!is_gone && known && known->removed_in.empty()) finding.severity = Severity::info;
  return finding;
}

}  // namespace

void check_versions(const Snapshot& snapshot, const std::vector<Json>& bundle, const std::vector<std::string>& sources,
                    Findings& findings) {
  if (snapshot.resources.empty()) return;
  for (size_t i = 0; i < bundle.size(); ++i) {
    std::optional<Finding> finding = judge(snapshot, bundle, bundle[i]);
    if (!finding) continue;
    if (i < sources.size()) finding->from = sources[i];
    findings.push_back(*std::move(finding));
  }
}

}  // namespace fairlead::doctor
