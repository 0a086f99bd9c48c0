#include "removal/order/finalizers.h"

#include <algorithm>
#include <array>

namespace fairlead::removal {
namespace {

struct Known {
  std::string_view name;
  FinalizerOwner owner;
};

constexpr std::string_view kManager = "kube-controller-manager";

constexpr auto kKnown = std::to_array<Known>({
    // Kubernetes itself.
    {"foregroundDeletion", {"the garbage collector of kube-controller-manager", "", "objects that it owns"}},
    {"orphan", {"the garbage collector of kube-controller-manager", "", "owner references in what it owns"}},
    {"kubernetes", {"the namespace controller of kube-controller-manager", "", "objects in the namespace"}},
    {"kubernetes.io/pvc-protection", {kManager, "", "a claim that a pod uses"}},
    {"kubernetes.io/pv-protection", {kManager, "", "a volume that a claim uses"}},
    {"batch.kubernetes.io/job-tracking", {"the Job controller of kube-controller-manager", "", "the count of a Job"}},
    {kInstancesFinalizer, {"kube-apiserver", "", "instances of the kind"}},
    {"service.kubernetes.io/load-balancer-cleanup",
     {"the cloud's controller manager", "", "a load balancer of the cloud"}},
    {"networking.k8s.io/service-cidr-finalizer", {kManager, "", "addresses in use"}},
    // Storage.
    {"external-attacher/",
     {"the external-attacher of the CSI driver", "csi-attacher", "a volume that is attached to a node"}},
    {"external-provisioner.volume.kubernetes.io/finalizer",
     {"the external-provisioner of the CSI driver", "csi-provisioner", "the volume in the storage system"}},
    {"snapshot.storage.kubernetes.io/",
     {"the snapshot controller", "snapshot-controller", "snapshots in the storage system"}},
    // Well-known operators.
    {"resources-finalizer.argocd.argoproj.io",
     {"Argo CD", "argocd-application-controller", "everything that the Application has deployed"}},
    {"post-delete-finalizer.argocd.argoproj.io",
     {"Argo CD", "argocd-application-controller", "the Application's post-delete hooks"}},
    {"finalizers.fluxcd.io", {"Flux", "kustomize-controller", "everything that it has deployed"}},
    {"acme.cert-manager.io/finalizer", {"cert-manager", "cert-manager", "the records of an ACME challenge"}},
    {"finalizer.acme.cert-manager.io", {"cert-manager", "cert-manager", "the records of an ACME challenge"}},
    {"externalsecrets.external-secrets.io/", {"External Secrets", "external-secrets", "Secrets that it has made"}},
    {"pushsecret.externalsecrets.io/finalizer",
     {"External Secrets", "external-secrets", "secrets that it has pushed elsewhere"}},
    {"istio-finalizer.install.istio.io", {"the Istio operator", "istio-operator", "Istio's control plane"}},
    {"ingress.k8s.aws/resources",
     {"the AWS Load Balancer Controller", "aws-load-balancer-controller", "load balancers at AWS"}},
    {"service.k8s.aws/resources",
     {"the AWS Load Balancer Controller", "aws-load-balancer-controller", "load balancers at AWS"}},
    {"elbv2.k8s.aws/resources",
     {"the AWS Load Balancer Controller", "aws-load-balancer-controller", "target groups at AWS"}},
    {"networking.gke.io/", {"the GKE ingress controller", "glbc", "load balancers at Google Cloud"}},
    {"finalizer.apiextensions.crossplane.io", {"Crossplane", "crossplane", "composed resources"}},
    {"finalizer.managedresource.crossplane.io", {"the Crossplane provider", "provider", "the resource in the cloud"}},
    {"in-use.crossplane.io", {"Crossplane", "crossplane", "resources that use it"}},
    {"finalizers.kyverno.io/", {"Kyverno", "kyverno", "what its policies have made"}},
    {"strimzi.io/topic-operator", {"the Strimzi topic operator", "entity-operator", "the Kafka topic"}},
    {"operator.prometheus.io/", {"the Prometheus operator", "prometheus-operator", "what it has made"}},
    {"tenancy.kiosk.sh/", {"kiosk", "kiosk", "spaces"}},
    {"controller.cattle.io/", {"Rancher", "rancher", "what Rancher keeps for it"}},
    {"wrangler.cattle.io/", {"Rancher", "rancher", "what Rancher keeps for it"}},
    {"ceph.rook.io/", {"Rook", "rook-ceph-operator", "data in Ceph"}},
    {"cephcluster.ceph.rook.io", {"Rook", "rook-ceph-operator", "the Ceph cluster and its data"}},
    {"longhorn.io", {"Longhorn", "longhorn-manager", "volumes and their replicas"}},
    {"cluster.cluster.x-k8s.io", {"Cluster API", "capi-controller-manager", "the machines of the cluster"}},
    {"machine.cluster.x-k8s.io", {"Cluster API", "capi-controller-manager", "the machine"}},
    {"karpenter.sh/termination", {"Karpenter", "karpenter", "machines in the cloud"}},
    {"metallb.io/", {"MetalLB", "controller", "addresses that are in use"}},
    {"dynamo.nvidia.com/finalizer", {"the Dynamo operator", "dynamo-operator", "the deployment that it has made"}},
});

}  // namespace

const FinalizerOwner* find_finalizer(std::string_view finalizer) {
  // A name that ends in a slash stands for all finalizers that begin with it.
  auto is_it = [&](const Known& known) {
    return known.name.ends_with('/') ? finalizer.starts_with(known.name) : finalizer == known.name;
  };
  auto found = std::ranges::find_if(kKnown, is_it);
  return found == kKnown.end() ? nullptr : &found->owner;
}

std::string domain_of(std::string_view finalizer) {
  std::string_view domain = finalizer.substr(0, finalizer.find('/'));
  // Drop the last part (io, com, dev), and take the last of the others: "external-secrets" of "x.external-secrets.io".
  size_t dot = domain.rfind('.');
  if (dot == std::string_view::npos) return std::string(domain);
  domain = domain.substr(0, dot);
  dot = domain.rfind('.');
  return std::string(dot == std::string_view::npos ? domain : domain.substr(dot + 1));
}

bool has_foreign_finalizer(const Json& object) {
  return std::ranges::any_of(object["metadata"]["finalizers"].items(), [](const Json& one) {
    const FinalizerOwner* owner = find_finalizer(one.string_or(""));
    return !owner || !owner->is_kubernetes();
  });
}

}  // namespace fairlead::removal
