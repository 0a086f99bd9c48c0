// Troubles of webhooks, each made by breaking a healthy cluster.
#include "doctor/doctor.h"
#include "doctor/doctor_testing.h"

namespace fairlead::doctor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kWebhook = "webhook v.widgets.example.com (ValidatingWebhookConfiguration widgets)";

TEST_F(DoctorTest, AHealthyClusterHasNoFindings) { EXPECT_THAT(found(), IsEmpty()); }

TEST_F(DoctorTest, AnEmptyClusterHasNoFindings) {
  objects_.clear();
  EXPECT_THAT(found(), IsEmpty());
}

// What Fairlead itself creates for a moment to prove a webhook would look dangerous.
TEST_F(DoctorTest, ShadowsOfARunAreNoFindings) {
  add(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: 0-fairlead-shadow-run-1, labels: {fairlead.dev/shadow: run}}
webhooks:
- name: shadow.fairlead.dev
  clientConfig: {service: {name: nobody, namespace: nowhere}}
  rules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*']}]
  failurePolicy: Fail
  timeoutSeconds: 30
  sideEffects: None
  admissionReviewVersions: [v1]
)");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(DoctorTest, GateLeftBehind) {
  add(kGateObjects);
  EXPECT_EQ(only(),
            "warning gate-left-behind: gate fairlead-gate is gone, and its webhook configurations are still there\n"
            "because service operator/fairlead-gate does not exist\n"
            "next kubectl delete mutatingwebhookconfigurations -l fairlead.dev/gate=fairlead-gate");
}

TEST_F(DoctorTest, GateNotAnswering) {
  add(kGateObjects);
  add(R"(
apiVersion: v1
kind: Service
metadata: {name: fairlead-gate, namespace: operator}
spec: {selector: {app: nobody}, ports: [{port: 443}]}
)");
  EXPECT_THAT(only(), testing::StartsWith("warning gate-not-answering: gate fairlead-gate does not answer, so no "
                                          "request waits for webhooks that come up\n"
                                          "because service operator/fairlead-gate has no endpoints\n"));
}

TEST_F(DoctorTest, WebhookOrphaned) {
  std::erase_if(objects_, [](const Json& one) { return namespace_of(one) == "operator"; });
  remove("Namespace", "operator");
  EXPECT_EQ(only(),
            fmt::format("error webhook-orphaned: {} cannot be called\n"
                        "because namespace operator, where its service hook should be, does not exist\n"
                        "blocks CREATE and UPDATE of widgets.example.com in every namespace\n"
                        "next kubectl delete validatingwebhookconfiguration widgets, if nothing uses it any more",
                        kWebhook));
}

TEST_F(DoctorTest, WebhookServiceMissing) {
  remove("Service", "hook");
  EXPECT_EQ(only(), fmt::format("error webhook-service-missing: {} cannot be called\n"
                                "because service operator/hook does not exist\n"
                                "blocks CREATE and UPDATE of widgets.example.com in every namespace\n"
                                "next kubectl -n operator get services",
                                kWebhook));
}

TEST_F(DoctorTest, AnOperatorThatIsGoneIsKnownByItsLease) {
  remove("Service", "hook");
  add(R"(
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: dynamo-operator-ns-lock, namespace: operator}
spec: {holderIdentity: "pod-0_1", leaseDurationSeconds: 30, renewTime: "2030-02-28T20:00:00.000000Z"}
)");
  EXPECT_EQ(only(), fmt::format("error webhook-service-missing: {} cannot be called\n"
                                "because service operator/hook does not exist\n"
                                "because the operator of the namespace is gone: pod-0_1 has not renewed Lease "
                                "operator/dynamo-operator-ns-lock since 2030-02-28T20:00:00.000000Z\n"
                                "blocks CREATE and UPDATE of widgets.example.com in every namespace\n"
                                "next kubectl -n operator get services; or, if it is not to come back: kubectl delete "
                                "validatingwebhookconfiguration widgets",
                                kWebhook));
  // One that was released, or renewed a moment ago, says nothing of the kind.
  for (auto [field, value] :
       {std::pair("holderIdentity", R"("")"), {"renewTime", R"("2099-01-01T00:00:00.000000Z")"}}) {
    set(object("Lease", "dynamo-operator-ns-lock"), {"spec", field}, value);
    EXPECT_THAT(only(), testing::Not(testing::HasSubstr("is gone")));
  }
}

TEST_F(DoctorTest, WhatWasNotReadIsNotMissing) {
  remove("Service", "hook");
  Snapshot all = snapshot(), some;
  some.now = all.now;
  some.resources = all.resources;
  for (const Json& object : objects_) some.add(object);
  EXPECT_THAT(check_all(some), IsEmpty());
}

TEST_F(DoctorTest, WebhookPortMissing) {
  set(object("Service", "hook"), {"spec", "ports"}, R"([{"port": 8443}])");
  EXPECT_EQ(only(), fmt::format("error webhook-port-missing: {} cannot be called\n"
                                "because service operator/hook has no port 443\n"
                                "blocks CREATE and UPDATE of widgets.example.com in every namespace\n"
                                "next kubectl -n operator get service hook -o yaml",
                                kWebhook));
}

TEST_F(DoctorTest, WebhookNoEndpointsIsToldOnceWithItsCause) {
  set(object("EndpointSlice", "hook-1"), {"endpoints"},
      R"([{"addresses": ["10.0.0.1"], "conditions": {"ready": false}, "targetRef": {"name": "hook-1"}}])");
  set(object("Pod", "hook-1"), {"status"},
      R"({"phase": "Pending", "containerStatuses": [
          {"name": "hook", "ready": false, "state": {"waiting": {"reason": "ImagePullBackOff"}}}]})");
  set(object("Deployment", "hook"), {"status"}, R"({"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2})");
  EXPECT_EQ(only(), fmt::format("error webhook-no-endpoints: {} cannot be called\n"
                                "because service operator/hook has 0 of 1 endpoints ready\n"
                                "because pod hook-1 is waiting: ImagePullBackOff (hook)\n"
                                "blocks CREATE and UPDATE of widgets.example.com in every namespace\n"
                                "next kubectl -n operator describe pod hook-1",
                                kWebhook));
}

TEST_F(DoctorTest, WebhookSkipped) {
  set(first_webhook(), {"failurePolicy"}, R"("Ignore")");
  remove("EndpointSlice", "hook-1");
  set(object("Pod", "hook-1"), {"status"},
      R"({"phase": "Running", "conditions": [
          {"type": "Ready", "status": "False", "lastTransitionTime": "2030-02-01T00:00:00Z"}], "containerStatuses": [
          {"name": "hook", "ready": false, "state": {"running": {}}}]})");
  EXPECT_EQ(only(),
            fmt::format("warning webhook-skipped: {} is skipped, because its failurePolicy is Ignore and it cannot "
                        "be called, since 2030-02-01T00:00:00Z\n"
                        "because service operator/hook has no endpoints\n"
                        "because pod hook-1 is not ready: container hook is running, but not ready\n"
                        "because not checked: CREATE and UPDATE of widgets.example.com in every namespace\n"
                        "next kubectl -n operator describe pod hook-1",
                        kWebhook));
}

TEST_F(DoctorTest, WebhookSkippedWithoutPodsSinceItsEndpointsWereRemoved) {
  set(first_webhook(), {"failurePolicy"}, R"("Ignore")");
  remove("Pod", "hook-1");
  set(object("EndpointSlice", "hook-1"), {"endpoints"}, "[]");
  set(object("EndpointSlice", "hook-1"), {"metadata", "annotations"},
      R"({"endpoints.kubernetes.io/last-change-trigger-time": "2030-02-03T00:00:00Z"})");
  set(object("Deployment", "hook"), {"status"}, R"({"observedGeneration": 1})");
  Findings all = findings();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].code, "webhook-skipped");
  EXPECT_TRUE(all[0].what.ends_with(", since 2030-02-03T00:00:00Z")) << all[0].what;
}

TEST_F(DoctorTest, WebhookCritical) {
  set(first_webhook(), {"rules"},
      R"([{"apiGroups": ["coordination.k8s.io"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}])");
  set(first_webhook(), {"timeoutSeconds"}, "3");
  EXPECT_EQ(only(),
            fmt::format("warning webhook-critical: {} can stop the cluster if it does not answer\n"
                        "because with failurePolicy Fail it guards leases.coordination.k8s.io in kube-system and "
                        "leases.coordination.k8s.io in kube-node-lease\n"
                        "next kubectl get validatingwebhookconfiguration widgets -o yaml",
                        kWebhook));
}

TEST_F(DoctorTest, WebhookCriticalForSubresources) {
  set(first_webhook(), {"rules"},
      R"([{"apiGroups": ["apps"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["deployments/scale"]},
          {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["nodes/status"]}])");
  Findings all = findings();
  auto critical = std::ranges::find(all, std::string_view("webhook-critical"), &Finding::code);
  ASSERT_NE(critical, all.end());
  EXPECT_THAT(critical->causes,
              ElementsAre("with failurePolicy Fail it guards nodes/status and deployments/scale.apps in kube-system"));
}

TEST_F(DoctorTest, WebhookSlow) {
  set(first_webhook(), {"timeoutSeconds"}, "30");
  EXPECT_EQ(only(), fmt::format("info webhook-slow: {} can hold requests up for 30 s\n"
                                "because many clients give up after 30 s themselves, and several webhooks add up\n"
                                "next kubectl get validatingwebhookconfiguration widgets -o yaml",
                                kWebhook));
  // On Leases, even a webhook that fails open and is quicker.
  set(first_webhook(), {"failurePolicy"}, R"("Ignore")");
  set(first_webhook(), {"timeoutSeconds"}, "4");
  set(first_webhook(), {"rules"},
      R"([{"apiGroups": ["coordination.k8s.io"], "apiVersions": ["*"], "operations": ["*"], "resources": ["leases"]}])");
  EXPECT_THAT(found(), ElementsAre("warning webhook-slow"));
  set(first_webhook(), {"timeoutSeconds"}, "3");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(DoctorTest, WebhookMatchesNothing) {
  set(first_webhook(), {"rules"},
      R"([{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["gadgets"]}])");
  EXPECT_EQ(only(), fmt::format("warning webhook-matches-nothing: {} is never called\n"
                                "because the API server serves nothing that its rules match\n"
                                "next kubectl get validatingwebhookconfiguration widgets -o yaml",
                                kWebhook));
  set(first_webhook(), {"rules"},
      R"([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CONNECT"], "resources": ["pods/exec"]}])");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(DoctorTest, WebhookMatchesNoNamespace) {
  set(first_webhook(), {"namespaceSelector"}, R"({"matchLabels": {"team": "a"}})");
  EXPECT_EQ(only(), fmt::format("warning webhook-matches-no-namespace: {} is never called\n"
                                "because no namespace has the labels that its namespaceSelector asks for\n"
                                "next kubectl get namespaces --show-labels",
                                kWebhook));
}

TEST_F(DoctorTest, WebhookNamespacesExempt) {
  set(first_webhook(), {"namespaceSelector"},
      R"({"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["default", "operator"]}]})");
  EXPECT_EQ(only(), fmt::format("info webhook-namespaces-exempt: {} is not called for 1 namespace\n"
                                "because its namespaceSelector does not match default\n"
                                "next kubectl get namespaces --show-labels",
                                kWebhook));
}

TEST_F(DoctorTest, WebhookGuardsItself) {
  set(first_webhook(), {"rules"},
      R"([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}])");
  EXPECT_THAT(found(), ElementsAre("warning webhook-critical", "warning webhook-guards-itself"));
  set(first_webhook(), {"objectSelector"}, R"({"matchLabels": {"app": "other"}})");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(DoctorTest, WebhookNoDryRun) {
  set(first_webhook(), {"sideEffects"}, R"("Some")");
  EXPECT_THAT(found(), ElementsAre("info webhook-no-dry-run"));
}

TEST_F(DoctorTest, WebhookSingleReplica) {
  set(object("Deployment", "hook"), {"spec", "replicas"}, "1");
  set(object("Deployment", "hook"), {"status", "replicas"}, "1");
  set(object("Deployment", "hook"), {"status", "updatedReplicas"}, "1");
  EXPECT_EQ(only(), fmt::format("warning webhook-single-replica: {} has a single replica: Deployment operator/hook\n"
                                "next kubectl -n operator scale deployment/hook --replicas=2",
                                kWebhook));
}

TEST_F(DoctorTest, WebhookNoBudget) {
  set(object("PodDisruptionBudget", "hook"), {"spec", "selector", "matchLabels", "app"}, R"("other")");
  EXPECT_THAT(found(), ElementsAre("info webhook-no-budget"));
  EXPECT_EQ(findings()[0].next,
            "kubectl -n operator create poddisruptionbudget hook --min-available=1 --selector=app=hook");
}

TEST_F(DoctorTest, WebhookNetworkPolicy) {
  add(R"(
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed, namespace: operator}
spec: {podSelector: {}, policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {}}]}]}
)");
  EXPECT_EQ(only(),
            fmt::format("warning webhook-network-policy: the API server may not reach {}\n"
                        "because NetworkPolicy operator/closed selects its pods, and no rule lets in what is not a "
                        "pod: an ipBlock, or a rule without `from`\n"
                        "next kubectl -n operator get networkpolicy closed -o yaml",
                        kWebhook));
  // Policies add up: one that opens the port is enough, under its number or its name.
  for (std::string_view port : {"9443", R"("https")"}) {
    add(fmt::format(R"(
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: open, namespace: operator}}
spec: {{podSelector: {{matchLabels: {{app: hook}}}}, ingress: [{{ports: [{{port: {}}}]}}]}}
)",
                    port));
    EXPECT_THAT(found(), IsEmpty()) << port;
    remove("NetworkPolicy", "open");
  }
}

TEST_F(DoctorTest, WebhookSkipsObject) {
  set(first_webhook(), {"objectSelector"}, R"({"matchLabels": {"checked": "yes"}})");
  Json widget = *Json::parse(R"({"apiVersion": "example.com/v1", "kind": "Widget",
                                 "metadata": {"name": "w", "namespace": "default"}})");
  Findings about = about_objects(snapshot(), findings(), {widget}, true);
  ASSERT_EQ(about.size(), 1u);
  EXPECT_EQ(about[0].code, "webhook-skips-object");
  EXPECT_EQ(about[0].what, fmt::format("{} is not called for Widget default/w", kWebhook));
  EXPECT_THAT(about[0].causes, ElementsAre("its objectSelector does not match the labels of the object"));
  set(widget, {"metadata", "labels"}, R"({"checked": "yes"})");
  EXPECT_THAT(about_objects(snapshot(), findings(), {widget}, true), IsEmpty());
}

TEST_F(DoctorTest, WebhookNone) {
  add(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true}]
status:
  storedVersions: [v1]
  conditions: [{type: NamesAccepted, status: "True"}, {type: Established, status: "True"}]
)");
  Json widget = *Json::parse(R"({"apiVersion": "example.com/v1", "kind": "Widget",
                                 "metadata": {"name": "w", "namespace": "default"}})");
  EXPECT_THAT(about_objects(snapshot(), findings(), {widget}, true), IsEmpty());
  remove("ValidatingWebhookConfiguration", "widgets");
  for (bool is_stored : {true, false}) {
    Findings about = about_objects(snapshot(), findings(), {widget}, is_stored);
    ASSERT_EQ(about.size(), 1u);
    EXPECT_EQ(about[0].code, "webhook-none");
    EXPECT_EQ(about[0].severity, Severity::info);
    EXPECT_EQ(about[0].what, "no webhook checks Widget default/w");
    EXPECT_THAT(about[0].causes, ElementsAre("no webhook has rules for widgets.example.com",
                                             "if its operator has webhooks, they are disabled or not installed"));
  }
  EXPECT_THAT(found(), IsEmpty()) << "many kinds have no webhook";
  Json map =
      *Json::parse(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "default"}})");
  EXPECT_THAT(about_objects(snapshot(), findings(), {map}, true), IsEmpty());
}

TEST_F(DoctorTest, WebhookSkipsObjectWhateverTheOperation) {
  set(first_webhook(), {"objectSelector"}, R"({"matchLabels": {"checked": "yes"}})");
  Json widget = *Json::parse(R"({"apiVersion": "example.com/v1", "kind": "Widget",
                                 "metadata": {"name": "w", "namespace": "default"}})");
  for (std::string_view operation : {"CREATE", "UPDATE", "DELETE"}) {
    first_webhook().make("rules").if_array()->front().make("operations") = Json::Array{operation};
    Findings about = about_objects(snapshot(), findings(), {widget}, true);
    ASSERT_EQ(about.size(), 1u) << operation;
    EXPECT_EQ(about[0].code, "webhook-skips-object");
  }
}

TEST_F(DoctorTest, AWebhookThatOnlyGuardsDeletionsConcernsStoredObjects) {
  first_webhook().make("rules").if_array()->front().make("operations") = Json::Array{"DELETE"};
  remove("Service", "hook");
  Json widget = *Json::parse(R"({"apiVersion": "example.com/v1", "kind": "Widget",
                                 "metadata": {"name": "w", "namespace": "default"}})");
  Findings about = about_objects(snapshot(), findings(), {widget}, true);
  ASSERT_EQ(about.size(), 1u);
  EXPECT_EQ(about[0].code, "webhook-service-missing");
  EXPECT_THAT(about_objects(snapshot(), findings(), {widget}, false), IsEmpty()) << "a manifest is not deleted";
}

TEST_F(DoctorTest, OnlyWhatConcernsTheSubjectIsKept) {
  remove("Service", "hook");
  Snapshot broken = snapshot();
  Findings all = check_all(broken);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(about_webhook(broken, all, "widgets")->size(), 1u);
  EXPECT_EQ(about_webhook(broken, all, "v.widgets.example.com")->size(), 1u);
  EXPECT_EQ(about_webhook(broken, all, "other").error().what(),
            "there is no webhook and no webhook configuration other");
  EXPECT_EQ(about_namespace(broken, all, "default").size(), 1u) << "the webhook refuses requests there";
  Json widget = *Json::parse(R"({"apiVersion": "example.com/v1", "kind": "Widget",
                                 "metadata": {"name": "w", "namespace": "default"}})");
  Findings about = about_objects(broken, all, {widget}, true);
  ASSERT_EQ(about.size(), 1u);
  EXPECT_EQ(about[0].blocks, "Widget default/w");
  Json map =
      *Json::parse(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "w", "namespace": "default"}})");
  EXPECT_THAT(about_objects(broken, all, {map}, true), IsEmpty());
}

}  // namespace
}  // namespace fairlead::doctor
