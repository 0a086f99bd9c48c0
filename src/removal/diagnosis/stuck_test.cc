// Why a deletion makes no progress, word by word.
#include "removal/diagnosis/stuck.h"

#include <gmock/gmock.h>

#include "removal/diagnosis/progress.h"
#include "removal/order/finalizers.h"

namespace fairlead::removal {
namespace {

using testing::ElementsAre;

Json parse(std::string_view text) {
  Result<Json> value = Json::parse(text);
  if (!value) ADD_FAILURE() << value.error().message();
  return value ? *std::move(value) : Json();
}

std::string report(const Evidence& evidence) {
  return explain(evidence).chain.under(ErrorKind::timeout, evidence.key.text(), "").report();
}

Evidence target(std::string_view group, std::string_view kind, std::string_view json) {
  Evidence evidence;
  evidence.object = parse(json);
  const Json& metadata = evidence.object["metadata"];
  evidence.key = {.group = std::string(group),
                  .kind = std::string(kind),
                  .ns = std::string(metadata["namespace"].string_or("")),
                  .name = std::string(metadata["name"].string_or(""))};
  evidence.resource = {.group = std::string(group), .version = "v1", .kind = std::string(kind), .plural = "things"};
  return evidence;
}

void add_remaining(Evidence& evidence, std::string_view group, std::string_view kind, std::string_view json) {
  evidence.remaining.push_back(parse(json));
  evidence.remaining_kinds.push_back(
      {.group = std::string(group), .version = "v1", .kind = std::string(kind), .plural = "things"});
}

TEST(Stuck, AFinalizerThatIsKnownAndItsControllerThatRuns) {
  Evidence evidence = target("argoproj.io", "Application",
                             R"({"metadata":{"name":"shop","namespace":"argocd",
                               "finalizers":["resources-finalizer.argocd.argoproj.io"]}})");
  evidence.workloads = {parse(R"({"kind":"StatefulSet","metadata":{"name":"argocd-application-controller",
                                 "namespace":"argocd"},"spec":{"replicas":1},"status":{"readyReplicas":1}})")};
  EXPECT_EQ(
      report(evidence),
      "error: Application argocd/shop\n"
      "  because   finalizer resources-finalizer.argocd.argoproj.io has not been removed\n"
      "  because   Argo CD removes it\n"
      "  because   StatefulSet argocd/argocd-application-controller, which seems to be its controller, has 1 of 1 "
      "replicas ready\n"
      "  next      kubectl -n argocd logs statefulset/argocd-application-controller\n");
  EXPECT_EQ(explain(evidence).leaves, "everything that the Application has deployed");
}

TEST(Stuck, AControllerThatCannotStart) {
  Evidence evidence = target("acme.dev", "Widget",
                             R"({"metadata":{"name":"w","namespace":"team","finalizers":["acme.dev/x","acme.dev/y"],
      "managedFields":[{"manager":"widget-controller","fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"acme.dev/x\"":{}}}}}]}})");
  evidence.workloads = {
      parse(R"({"kind":"Deployment","metadata":{"name":"widget-controller","namespace":"sys","uid":"d"},
    "spec":{"replicas":1,"selector":{"matchLabels":{"app":"w"}}},"status":{}})")};
  evidence.pods = {
      parse(R"({"kind":"Pod","metadata":{"name":"widget-controller-1","namespace":"sys","labels":{"app":"w"},
    "ownerReferences":[{"kind":"ReplicaSet","name":"widget-controller-7c9f","controller":true}]},
    "status":{"phase":"Pending","containerStatuses":[{"name":"x","image":"acme/w:1","state":{"waiting":{"reason":"ImagePullBackOff"}}}]}})")};
  EXPECT_EQ(
      report(evidence),
      "error: Widget team/w\n"
      "  because   finalizers acme.dev/x, acme.dev/y have not been removed\n"
      "  because   widget-controller added it and has to remove it\n"
      "  because   Deployment sys/widget-controller, which seems to be its controller, has 0 of 1 replicas ready\n"
      "  because   pod widget-controller-1 is waiting: ImagePullBackOff (acme/w:1)\n"
      "  next      kubectl -n sys describe pod widget-controller-1\n");
}

TEST(Stuck, AWebhookWhoseServiceIsNotThere) {
  Evidence evidence =
      target("acme.dev", "Widget", R"({"metadata":{"name":"w","namespace":"team","finalizers":["acme.dev/x"]}})");
  evidence.ns = parse(R"({"metadata":{"name":"team","labels":{}}})");
  evidence.webhook_configurations = {parse(R"({"apiVersion":"admissionregistration.k8s.io/v1",
    "kind":"MutatingWebhookConfiguration","metadata":{"name":"acme"},"webhooks":[{"name":"m.acme.dev",
    "clientConfig":{"service":{"name":"hook","namespace":"sys"}},"failurePolicy":"Fail","namespaceSelector":{},
    "objectSelector":{},"rules":[{"apiGroups":["acme.dev"],"apiVersions":["v1"],"operations":["UPDATE"],
    "resources":["things"]}]}]})")};
  evidence.namespaces_of_slices = {"sys"};
  EXPECT_EQ(report(evidence),
            "error: Widget team/w\n"
            "  because   finalizer acme.dev/x has not been removed\n"
            "  because   the update that removes it must pass webhook m.acme.dev (acme), which does not answer\n"
            "  because   service sys/hook does not exist\n"
            "  next      kubectl -n sys get endpointslices,pods; if the webhook is no longer needed: kubectl delete "
            "mutatingwebhookconfiguration acme\n");
}

TEST(Stuck, ANamespaceWithADeadApi) {
  Evidence evidence = target("", "Namespace", R"({"kind":"Namespace","metadata":{"name":"team"},
    "spec":{"finalizers":["kubernetes"]},"status":{"conditions":[{"type":"NamespaceDeletionDiscoveryFailure",
    "status":"True","reason":"DiscoveryFailed","message":"Discovery failed for some groups, 1 failing: x"}]}})");
  evidence.api_services = {
      parse(R"({"metadata":{"name":"v1."},"status":{"conditions":[{"type":"Available","status":"True"}]}})"),
      parse(R"({"metadata":{"name":"v1beta1.metrics.k8s.io"},"status":{"conditions":[{"type":
      "Available","status":"False","reason":"MissingEndpoints","message":"endpoints for service/metrics-server in \"kube-system\" have no addresses"}]}})")};
  EXPECT_EQ(report(evidence),
            "error: Namespace team\n"
            "  because   its contents cannot be listed: API discovery fails\n"
            "  because   APIService v1beta1.metrics.k8s.io is not available: MissingEndpoints: endpoints for "
            "service/metrics-server in \"kube-system\" have no addresses\n"
            "  next      kubectl delete apiservice v1beta1.metrics.k8s.io, if that API is no longer served\n");
}

TEST(Stuck, ANamespaceWithFinalizersOfItsOwn) {
  Evidence evidence = target("", "Namespace", R"({"kind":"Namespace","metadata":{"name":"team"},
    "spec":{"finalizers":["kubernetes","acme.dev/x"]}})");
  EXPECT_EQ(report(evidence),
            "error: Namespace team\n"
            "  because   its spec.finalizers has acme.dev/x\n"
            "  next      fairlead delete Namespace/team --force-finalizers\n");
}

TEST(Stuck, ADefinitionWhoseInstancesCannotBeDeleted) {
  Evidence evidence =
      target("apiextensions.k8s.io", "CustomResourceDefinition",
             R"({"metadata":{"name":"widgets.acme.dev","finalizers":["customresourcecleanup.apiextensions.k8s.io"]},
    "status":{"conditions":[{"type":"Terminating","status":"True","reason":"InstanceDeletionFailed",
    "message":"could not list instances: conversion webhook failed"}]}})");
  add_remaining(evidence, "acme.dev", "Widget", R"({"metadata":{"name":"a","namespace":"team"}})");
  add_remaining(evidence, "acme.dev", "Widget",
                R"({"metadata":{"name":"b","namespace":"team","finalizers":["acme.dev/x"]}})");
  evidence.workloads.emplace();
  EXPECT_EQ(report(evidence),
            "error: CustomResourceDefinition widgets.acme.dev\n"
            "  because   its instances cannot be deleted: could not list instances: conversion webhook failed\n"
            "  because   remaining instances: Widget team/a, Widget team/b\n"
            "  because   Widget team/b: finalizer acme.dev/x has not been removed\n"
            "  because   no workload with a matching name was found: its controller may be uninstalled\n"
            "  next      reinstall the controller, or fairlead delete -n team Widget.acme.dev/b --force-finalizers\n");
}

TEST(Stuck, AVolumeThatIsBound) {
  EXPECT_EQ(report(target("", "PersistentVolume",
                          R"({"metadata":{"name":"pv","finalizers":["kubernetes.io/pv-protection"]},
                            "spec":{"claimRef":{"namespace":"team","name":"data"}}})")),
            "error: PersistentVolume pv\n"
            "  because   PersistentVolumeClaim team/data is bound to it\n"
            "  next      kubectl -n team delete pvc data\n");
}

TEST(Stuck, AJobThatGoesAfterItsPods) {
  Evidence evidence =
      target("batch", "Job", R"({"metadata":{"name":"j","namespace":"team","finalizers":["foregroundDeletion"]}})");
  add_remaining(evidence, "", "Pod", R"({"metadata":{"name":"j-1","namespace":"team"}})");
  EXPECT_EQ(report(evidence),
            "error: Job team/j\n"
            "  because   it is deleted after the objects that it owns; remaining: Pod team/j-1\n"
            "  next      kubectl -n team describe Pod j-1\n");
}

TEST(Stuck, APodOnANodeThatDoesNotAnswer) {
  EXPECT_EQ(report(target("", "Pod", R"({"metadata":{"name":"p","namespace":"team"},"spec":{"nodeName":"n1"}})")),
            "error: Pod team/p\n"
            "  because   the kubelet of node n1 has not stopped it\n"
            "  next      kubectl describe node n1\n");
}

TEST(Stuck, NothingAtAllIsSaid) {
  EXPECT_EQ(report(target("", "ConfigMap", R"({"metadata":{"name":"c","namespace":"team"}})")),
            "error: ConfigMap team/c\n"
            "  because   it has no finalizers, and nothing shows why it is still there\n"
            "  next      kubectl -n team get ConfigMap c -o yaml\n");
}

TEST(Stuck, WhatIsNoObjectAtAllIsNoReasonToCrash) {
  for (std::string_view json : {"{}", "[]", "1", R"({"metadata":[],"spec":3,"status":{"conditions":"x"}})",
                                R"({"metadata":{"finalizers":[1,{}],"managedFields":{}}})"})
    for (std::string_view kind : {"Namespace", "CustomResourceDefinition", "PersistentVolume", "Job", "Pod"})
      EXPECT_FALSE(report(target("", kind, json)).empty());
}

TEST(Progress, IsLessInTheWayOrSomethingElse) {
  Json before = parse(R"({"kind":"Widget","metadata":{"finalizers":["a","b"],"resourceVersion":"1"}})");
  Json touched = parse(R"({"kind":"Widget","metadata":{"finalizers":["a","b"],"resourceVersion":"2"}})");
  Json leaving = parse(R"({"kind":"Widget","metadata":{"finalizers":["a","b"],"deletionTimestamp":"x"}})");
  Json lighter = parse(R"({"kind":"Widget","metadata":{"finalizers":["a"],"deletionTimestamp":"x"}})");
  EXPECT_FALSE(progress_of(touched).is_beyond(progress_of(before)));
  EXPECT_TRUE(progress_of(leaving).is_beyond(progress_of(before)));
  EXPECT_TRUE(progress_of(lighter).is_beyond(progress_of(leaving)));
  EXPECT_FALSE(progress_of(leaving).is_beyond(progress_of(lighter)));
}

TEST(Progress, ANamespaceTellsWhatIsLeft) {
  Json ns = parse(R"({"kind":"Namespace","metadata":{"deletionTimestamp":"x"},"status":{"conditions":[{"type":
    "NamespaceContentRemaining","status":"True","message":"Some resources are remaining: configmaps. has 12 resource instances, widgets.acme.dev has 3 resource instances"}]}})");
  EXPECT_THAT(remaining_in(ns),
              ElementsAre(RemainingKind{"configmaps", "", 12}, RemainingKind{"widgets", "acme.dev", 3}));
  EXPECT_EQ(progress_of(ns).remaining, 15U);
  Json odd = parse(R"({"kind":"Namespace","status":{"conditions":[{"type":"NamespaceContentRemaining","status":"True",
    "message":", , x has  resource instances, : has 99999999999999999999999 resource instances"}]}})");
  EXPECT_TRUE(remaining_in(odd).empty());
}

TEST(Finalizers, AreKnownByNameOrDomain) {
  EXPECT_TRUE(find_finalizer("foregroundDeletion")->is_kubernetes());
  EXPECT_EQ(find_finalizer("external-attacher/ebs-csi-aws-com")->workload, "csi-attacher");
  EXPECT_EQ(find_finalizer("acme.dev/x"), nullptr);
  EXPECT_EQ(domain_of("externalsecrets.external-secrets.io/cleanup"), "external-secrets");
  EXPECT_EQ(domain_of("acme.dev/x"), "acme");
  EXPECT_EQ(domain_of("orphan"), "orphan");
}

}  // namespace
}  // namespace fairlead::removal
