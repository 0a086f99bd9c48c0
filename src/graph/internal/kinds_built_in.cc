#include <algorithm>
#include <array>

#include "graph/internal/kinds.h"

namespace fairlead::graph {
namespace {

constexpr auto kBuiltIns = std::to_array<BuiltIn>({
    {"", "ConfigMap", "configmaps", true, Family::other},
    {"", "Endpoints", "endpoints", true, Family::other},
    {"", "Event", "events", true, Family::other},
    {"", "LimitRange", "limitranges", true, Family::other},
    {"", "Namespace", "namespaces", false, Family::name_space},
    {"", "Node", "nodes", false, Family::other},
    {"", "PersistentVolume", "persistentvolumes", false, Family::volume},
    {"", "PersistentVolumeClaim", "persistentvolumeclaims", true, Family::volume_claim},
    {"", "Pod", "pods", true, Family::pod},
    {"", "PodTemplate", "podtemplates", true, Family::other},
    {"", "ReplicationController", "replicationcontrollers", true, Family::workload},
    {"", "ResourceQuota", "resourcequotas", true, Family::other},
    {"", "Secret", "secrets", true, Family::secret},
    {"", "Service", "services", true, Family::service},
    {"", "ServiceAccount", "serviceaccounts", true, Family::service_account},
    {"apps", "ControllerRevision", "controllerrevisions", true, Family::other},
    {"apps", "DaemonSet", "daemonsets", true, Family::workload},
    {"apps", "Deployment", "deployments", true, Family::workload},
    {"apps", "ReplicaSet", "replicasets", true, Family::workload},
    {"apps", "StatefulSet", "statefulsets", true, Family::workload},
    {"batch", "CronJob", "cronjobs", true, Family::cron_job},
    {"batch", "Job", "jobs", true, Family::job},
    {"autoscaling", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true, Family::autoscaler},
    {"policy", "PodDisruptionBudget", "poddisruptionbudgets", true, Family::disruption_budget},
    {"networking.k8s.io", "Ingress", "ingresses", true, Family::ingress},
    {"networking.k8s.io", "IngressClass", "ingressclasses", false, Family::other},
    {"networking.k8s.io", "IPAddress", "ipaddresses", false, Family::other},
    {"networking.k8s.io", "NetworkPolicy", "networkpolicies", true, Family::other},
    {"networking.k8s.io", "ServiceCIDR", "servicecidrs", false, Family::other},
    {"discovery.k8s.io", "EndpointSlice", "endpointslices", true, Family::other},
    {"events.k8s.io", "Event", "events", true, Family::other},
    {"coordination.k8s.io", "Lease", "leases", true, Family::other},
    {"scheduling.k8s.io", "PriorityClass", "priorityclasses", false, Family::other},
    {"node.k8s.io", "RuntimeClass", "runtimeclasses", false, Family::other},
    {"storage.k8s.io", "CSIDriver", "csidrivers", false, Family::other},
    {"storage.k8s.io", "CSINode", "csinodes", false, Family::other},
    {"storage.k8s.io", "CSIStorageCapacity", "csistoragecapacities", true, Family::other},
    {"storage.k8s.io", "StorageClass", "storageclasses", false, Family::other},
    {"storage.k8s.io", "VolumeAttachment", "volumeattachments", false, Family::other},
    {"storage.k8s.io", "VolumeAttributesClass", "volumeattributesclasses", false, Family::other},
    {"certificates.k8s.io", "CertificateSigningRequest", "certificatesigningrequests", false, Family::other},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema", "flowschemas", false, Family::other},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", "prioritylevelconfigurations", false, Family::other},
    {"resource.k8s.io", "DeviceClass", "deviceclasses", false, Family::other},
    {"resource.k8s.io", "ResourceClaim", "resourceclaims", true, Family::other},
    {"resource.k8s.io", "ResourceClaimTemplate", "resourceclaimtemplates", true, Family::other},
    {"resource.k8s.io", "ResourceSlice", "resourceslices", false, Family::other},
    {kRights, "ClusterRole", "clusterroles", false, Family::other},
    {kRights, "ClusterRoleBinding", "clusterrolebindings", false, Family::role_binding},
    {kRights, "Role", "roles", true, Family::other},
    {kRights, "RoleBinding", "rolebindings", true, Family::role_binding},
    {"apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false, Family::definition},
    {"apiregistration.k8s.io", "APIService", "apiservices", false, Family::api_service},
    {kRegistration, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false,
     Family::webhook_configuration},
    {kRegistration, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false,
     Family::webhook_configuration},
    {kRegistration, "MutatingAdmissionPolicy", "mutatingadmissionpolicies", false, Family::policy},
    {kRegistration, "ValidatingAdmissionPolicy", "validatingadmissionpolicies", false, Family::policy},
    {kRegistration, "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", false, Family::policy_binding},
    {kRegistration, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false,
     Family::policy_binding},
});

struct Known {
  std::string_view group;
  std::string_view kind;
  Family family;
};
// Custom kinds that get special treatment.
constexpr auto kCustom = std::to_array<Known>({
    {"cert-manager.io", "Certificate", Family::certificate},
    {"cert-manager.io", "Issuer", Family::issuer},
    {"cert-manager.io", "ClusterIssuer", Family::issuer},
    {"external-secrets.io", "ExternalSecret", Family::external_secret},
    {"external-secrets.io", "PushSecret", Family::secret_store_user},
    {"bitnami.com", "SealedSecret", Family::sealed_secret},
});

}  // namespace

const BuiltIn* find_built_in(std::string_view group, std::string_view kind) {
  auto found = std::ranges::find_if(kBuiltIns, [&](const BuiltIn& b) { return b.group == group && b.kind == kind; });
  return found == kBuiltIns.end() ? nullptr : &*found;
}

const BuiltIn* find_built_in(std::string_view kind) {
  const BuiltIn* found = nullptr;
  for (const BuiltIn& built_in : kBuiltIns) {
    if (built_in.kind != kind) continue;
    if (found != nullptr) return nullptr;
    found = &built_in;
  }
  return found;
}

Family family_of(std::string_view group, std::string_view kind) {
  if (const BuiltIn* built_in = find_built_in(group, kind)) return built_in->family;
  auto found = std::ranges::find_if(kCustom, [&](const Known& k) { return k.group == group && k.kind == kind; });
  return found == kCustom.end() ? Family::other : found->family;
}

}  // namespace fairlead::graph
