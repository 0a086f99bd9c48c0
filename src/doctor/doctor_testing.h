// For the tests of this room: a small healthy cluster as objects, in which each test breaks something.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/base64.h"
#include "doctor/checks.h"
#include "doctor/doctor.h"
#include "manifest/manifest_testing.h"
#include "x509/x509.h"

namespace fairlead::doctor {

inline WallTime test_now() { return WallTime(std::chrono::sys_days(std::chrono::year(2030) / std::chrono::March / 1)); }

constexpr std::string_view kHealthyCluster = R"(
apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {kubernetes.io/metadata.name: default}}
---
apiVersion: v1
kind: Namespace
metadata: {name: kube-system, labels: {kubernetes.io/metadata.name: kube-system}}
---
apiVersion: v1
kind: Namespace
metadata: {name: operator, labels: {kubernetes.io/metadata.name: operator}}
---
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: operator}
spec: {selector: {app: hook}, ports: [{port: 443, targetPort: 9443}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: hook-1, namespace: operator, labels: {kubernetes.io/service-name: hook}}
endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}, targetRef: {name: hook-1}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: hook, namespace: operator, generation: 1, creationTimestamp: "2030-01-01T00:00:00Z"}
spec:
  replicas: 2
  selector: {matchLabels: {app: hook}}
  template:
    metadata: {labels: {app: hook}}
    spec: {containers: [{name: hook, image: hook}], volumes: [{name: cert, secret: {secretName: hook-cert}}]}
status:
  observedGeneration: 1
  replicas: 2
  updatedReplicas: 2
  readyReplicas: 2
  availableReplicas: 2
  conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]
---
apiVersion: v1
kind: Pod
metadata:
  name: hook-1
  namespace: operator
  labels: {app: hook}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: hook-5, uid: u1, controller: true}]
spec: {containers: [{name: hook, image: hook, ports: [{name: https, containerPort: 9443}]}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: hook, ready: true, state: {running: {}}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: hook, namespace: operator}
spec: {minAvailable: 1, selector: {matchLabels: {app: hook}}}
---
apiVersion: v1
kind: Secret
metadata: {name: hook-cert, namespace: operator}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: widgets}
webhooks:
- name: v.widgets.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: operator, name: hook, path: /v}}
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [widgets]}]
)";

// What a gate in namespace operator has besides its Service and its pods.
constexpr std::string_view kGateObjects = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: 0-fairlead-gate-kinds-core-1, labels: {fairlead.dev/gate: fairlead-gate}}
webhooks:
- name: core.kinds.gate.fairlead.dev
  clientConfig: {service: {name: fairlead-gate, namespace: operator}, caBundle: Q0E=}
  rules: [{apiGroups: [''], apiVersions: ['*'], operations: [CREATE], resources: [pods]}]
  failurePolicy: Ignore
  sideEffects: None
  admissionReviewVersions: [v1]
)";

// The objects of a cluster, and the certificates of its webhook.
class DoctorTest : public testing::Test {
 protected:
  DoctorTest() {
    add(kHealthyCluster);
    serve_with(leaf(ca_, "hook.operator.svc"));
    first_webhook().make("clientConfig").make("caBundle") = to_base64(ca_.certificate.to_pem());
  }

  void add(std::string_view yaml) {
    manifest::Bundle bundle = manifest::bundle_of(yaml);
    for (object::Object& object : bundle.objects) objects_.push_back(std::move(object).take_value());
  }
  Json& object(std::string_view kind, std::string_view name) {
    auto found = std::ranges::find_if(
        objects_, [&](const Json& one) { return one["kind"].string_or("") == kind && name_of(one) == name; });
    EXPECT_NE(found, objects_.end()) << kind << " " << name;
    return *found;
  }
  void remove(std::string_view kind, std::string_view name) {
    std::erase_if(objects_, [&](const Json& one) { return one["kind"].string_or("") == kind && name_of(one) == name; });
  }
  // Makes the last member of the path equal to the JSON text.
  void set(Json& at, std::initializer_list<std::string_view> path, std::string_view json) {
    Json* here = &at;
    for (std::string_view key : path) here = &here->make(key);
    Result<Json> value = Json::parse(json);
    ASSERT_TRUE(value) << value.error().message();
    *here = *std::move(value);
  }
  Json& first_webhook() {
    return object("ValidatingWebhookConfiguration", "widgets").make("webhooks").if_array()->front();
  }

  static x509::KeyPair authority(WallTime now = test_now(), Duration validity = std::chrono::hours(24 * 3650)) {
    return *x509::make_ca("test", validity, now);
  }
  static x509::KeyPair leaf(const x509::KeyPair& ca, std::string name, WallTime now = test_now(),
                            Duration validity = std::chrono::hours(24 * 365)) {
    x509::LeafSpec spec;
    spec.dns_names = {std::move(name)};
    spec.validity = validity;
    return *x509::make_leaf(ca, spec, now);
  }
  void serve_with(const x509::KeyPair& pair) { serve_with(pair.certificate, pair.key); }
  void serve_with(const x509::Certificate& certificate, const x509::Key& key) {
    Json& data = object("Secret", "hook-cert").make("data");
    data.make("tls.crt") = to_base64(certificate.to_pem());
    data.make("tls.key") = to_base64(key.to_pem());
  }

  // A snapshot in which every kind was read.
  Snapshot snapshot() const {
    Snapshot snapshot;
    snapshot.now = test_now();
    for (auto [group, kind, plural, namespaced] : {std::tuple("", "Pod", "pods", true),
                                                   {"", "ConfigMap", "configmaps", true},
                                                   {"", "Node", "nodes", false},
                                                   {"coordination.k8s.io", "Lease", "leases", true},
                                                   {"example.com", "Widget", "widgets", true}})
      snapshot.resources.push_back(
          {.group = group, .version = "v1", .kind = kind, .plural = plural, .namespaced = namespaced});
    for (std::string_view kind : {"ValidatingWebhookConfiguration",
                                  "MutatingWebhookConfiguration",
                                  "CustomResourceDefinition",
                                  "APIService",
                                  "Namespace",
                                  "Service",
                                  "EndpointSlice",
                                  "Pod",
                                  "Deployment",
                                  "StatefulSet",
                                  "DaemonSet",
                                  "Job",
                                  "NetworkPolicy",
                                  "PodDisruptionBudget",
                                  "Certificate",
                                  "PersistentVolumeClaim",
                                  "inventory",
                                  "Role",
                                  "RoleBinding",
                                  "ClusterRole",
                                  "ClusterRoleBinding",
                                  "ServiceAccount",
                                  "Event",
                                  "ValidatingAdmissionPolicy",
                                  "ValidatingAdmissionPolicyBinding",
                                  "MutatingAdmissionPolicy",
                                  "MutatingAdmissionPolicyBinding"})
      snapshot.saw_all(kind);
    for (const Json& object : objects_) snapshot.add(object);
    return snapshot;
  }

  Findings findings() const { return check_all(snapshot()); }
  // "error webhook-no-endpoints"
  std::vector<std::string> found() const {
    std::vector<std::string> codes;
    for (const Finding& finding : findings())
      codes.push_back(fmt::format("{} {}", name_of(finding.severity), finding.code));
    return codes;
  }
  // The only finding, as one text.
  std::string only() const {
    Findings all = findings();
    if (all.size() != 1) return fmt::format("{} findings", all.size());
    std::string text = fmt::format("{} {}: {}", name_of(all[0].severity), all[0].code, all[0].what);
    for (const std::string& cause : all[0].causes) text += "\nbecause " + cause;
    if (!all[0].blocks.empty()) text += "\nblocks " + all[0].blocks;
    return text + "\nnext " + all[0].next;
  }

  // How much a check finds where only these kinds can be seen as a whole.
  size_t found_by(void (*check)(const Snapshot&, Findings&), std::vector<std::string_view> kinds) const {
    Snapshot snapshot;
    snapshot.now = test_now();
    for (std::string_view kind : kinds) snapshot.saw_all(kind);
    for (const Json& object : objects_) snapshot.add(object);
    Findings findings;
    check(snapshot, findings);
    return findings.size();
  }

  x509::KeyPair ca_ = authority();
  std::vector<Json> objects_;
};

}  // namespace fairlead::doctor
