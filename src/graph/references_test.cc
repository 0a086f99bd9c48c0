#include <gmock/gmock.h>

#include "graph/graph_testing.h"

namespace fairlead::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(References, NamespaceAndCrd) {
  Graph graph = graph_of(R"(
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: team}
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true}]}
)");
  EXPECT_THAT(needs_of(graph),
              ElementsAre("Widget team/w -> Namespace team: its namespace",
                          "Widget team/w -> CustomResourceDefinition widgets.example.com ready: its CRD"));
  EXPECT_EQ(reports_of(graph), "");
}

TEST(References, TheDefaultNamespaceIsFilledIn) {
  manifest::Bundle bundle = bundle_of(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: v1
kind: Namespace
metadata: {name: team, namespace: ignored}
)");
  Graph graph = Graph::build(bundle, {}, {.default_namespace = "team"});
  EXPECT_THAT(needs_of(graph), ElementsAre("ConfigMap team/c -> Namespace team: its namespace"));
}

TEST(References, OfPods) {
  Graph graph = graph_of(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  serviceName: web
  volumeClaimTemplates: [{spec: {storageClassName: fast}}]
  template:
    spec:
      serviceAccountName: web
      priorityClassName: high
      runtimeClassName: gvisor
      imagePullSecrets: [{name: pull}]
      initContainers:
      - name: init
        envFrom: [{configMapRef: {name: env-config}}, {secretRef: {name: env-secret}}]
      containers:
      - name: web
        env:
        - {name: PLAIN, value: x}
        - {name: CONFIG, valueFrom: {configMapKeyRef: {name: key-config, key: k}}}
        - {name: SECRET, valueFrom: {secretKeyRef: {name: key-secret, key: k}}}
        - {name: MAYBE, valueFrom: {secretKeyRef: {name: optional, key: k, optional: true}}}
      volumes:
      - {name: config, configMap: {name: volume-config}}
      - {name: secret, secret: {secretName: volume-secret}}
      - {name: claim, persistentVolumeClaim: {claimName: claim}}
      - {name: maybe, secret: {secretName: optional, optional: true}}
      - {name: csi, csi: {driver: x, nodePublishSecretRef: {name: csi}}}
      - {name: short, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}
      - name: mix
        projected: {sources: [{configMap: {name: part-config}}, {secret: {name: part-secret}}, {secret: {name: optional, optional: true}}]}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: web}}
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: web}, imagePullSecrets: [{name: pull}]}
- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}}
- {apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: gvisor}}
- {apiVersion: v1, kind: Secret, metadata: {name: pull}}
- {apiVersion: v1, kind: Secret, metadata: {name: env-secret}}
- {apiVersion: v1, kind: Secret, metadata: {name: key-secret}}
- {apiVersion: v1, kind: Secret, metadata: {name: volume-secret}}
- {apiVersion: v1, kind: Secret, metadata: {name: part-secret}}
- {apiVersion: v1, kind: Secret, metadata: {name: optional}}
- {apiVersion: v1, kind: Secret, metadata: {name: csi}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: env-config}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: key-config}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: volume-config}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: part-config}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: claim}, spec: {storageClassName: fast, volumeName: disk}}
- {apiVersion: v1, kind: PersistentVolume, metadata: {name: disk}, spec: {storageClassName: fast}}
)");
  std::string web = "StatefulSet default/web -> ";
  EXPECT_THAT(
      needs_of(graph),
      UnorderedElementsAre(
          web + "ServiceAccount default/web soft: its ServiceAccount",
          web + "PriorityClass high soft: its PriorityClass", web + "RuntimeClass gvisor soft: its RuntimeClass",
          web + "Secret default/pull soft: its image pull secret",
          web + "ConfigMap default/volume-config soft: volume config",
          web + "Secret default/volume-secret soft: volume secret",
          web + "PersistentVolumeClaim default/claim soft: volume claim", web + "Secret default/csi soft: volume csi",
          web + "StorageClass fast soft: volume short", web + "ConfigMap default/part-config soft: volume mix",
          web + "Secret default/part-secret soft: volume mix",
          web + "ConfigMap default/env-config soft: envFrom of container init",
          web + "Secret default/env-secret soft: envFrom of container init",
          web + "ConfigMap default/key-config soft: env CONFIG of container web",
          web + "Secret default/key-secret soft: env SECRET of container web",
          web + "Service default/web soft: its Service",
          "ServiceAccount default/web -> Secret default/pull soft: its image pull secret",
          "PersistentVolumeClaim default/claim -> StorageClass fast soft: its StorageClass",
          "PersistentVolumeClaim default/claim -> PersistentVolume disk soft: its volume",
          "PersistentVolume disk -> StorageClass fast soft: its StorageClass"));
}

TEST(References, EveryKindThatMakesPods) {
  for (std::string_view kind : {"v1/Pod", "apps/v1/Deployment", "apps/v1/ReplicaSet", "apps/v1/DaemonSet",
                                "batch/v1/Job", "batch/v1/CronJob", "v1/ReplicationController"}) {
    size_t slash = kind.rfind('/');
    std::string spec = "volumes: [{name: data, configMap: {name: data}}]";
    std::string body = kind == "v1/Pod" ? fmt::format("{{{}}}", spec)
                       : kind == "batch/v1/CronJob"
                           ? fmt::format("{{jobTemplate: {{spec: {{template: {{spec: {{{}}}}}}}}}}}", spec)
                           : fmt::format("{{template: {{spec: {{{}}}}}}}", spec);
    Graph graph =
        graph_of(fmt::format("{{apiVersion: {}, kind: {}, metadata: {{name: x}}, spec: {}}}\n---\n"
                             "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: data}}}}\n",
                             kind.substr(0, slash), kind.substr(slash + 1), body));
    EXPECT_THAT(needs_of(graph), ElementsAre(fmt::format("{} default/x -> ConfigMap default/data soft: volume data",
                                                         kind.substr(slash + 1))));
  }
}

TEST(References, Rights) {
  std::string text = R"(
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web, namespace: team}
  spec: {template: {spec: {serviceAccountName: web}}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: web, namespace: team}}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: read, namespace: team}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: read, namespace: team}
  roleRef: {kind: Role, name: read}
  subjects: [{kind: ServiceAccount, name: web}, {kind: User, name: jane}]
)";
  EXPECT_THAT(needs_of(graph_of(text)),
              ElementsAre("Deployment team/web -> ServiceAccount team/web soft: its ServiceAccount",
                          "Deployment team/web -> RoleBinding team/read soft: the rights of its ServiceAccount",
                          "RoleBinding team/read -> Role team/read soft: its role",
                          "RoleBinding team/read -> ServiceAccount team/web soft: its subject"));
  text += R"(
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: all}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRoleBinding
  metadata: {name: all}
  roleRef: {kind: ClusterRole, name: all}
  subjects: [{kind: ServiceAccount, name: web, namespace: team}]
)";
  // Several are one node, so that many workloads of one account cost one need each.
  EXPECT_THAT(
      needs_of(graph_of(text)),
      ElementsAre(
          "Deployment team/web -> ServiceAccount team/web soft: its ServiceAccount",
          "Deployment team/web -> the rights of ServiceAccount team/web soft: the rights of its ServiceAccount",
          "RoleBinding team/read -> Role team/read soft: its role",
          "RoleBinding team/read -> ServiceAccount team/web soft: its subject",
          "ClusterRoleBinding all -> ClusterRole all soft: its role",
          "ClusterRoleBinding all -> ServiceAccount team/web soft: its subject",
          "the rights of ServiceAccount team/web -> RoleBinding team/read soft: a right of the ServiceAccount",
          "the rights of ServiceAccount team/web -> ClusterRoleBinding all soft: a right of the ServiceAccount"));
}

TEST(References, WhatMakesASecretStandsForIt) {
  Graph graph = graph_of(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {volumes: [{name: tls, secret: {secretName: tls}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {volumes: [{name: pw, secret: {secretName: pw}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {volumes: [{name: s, secret: {secretName: sealed}}]}}
- {apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: cert, namespace: default}, spec: {secretName: tls, issuerRef: {name: ca}}}
- {apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: ca, namespace: default}, spec: {ca: {secretName: root}}}
- {apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: root, namespace: default}, spec: {secretName: root, issuerRef: {kind: ClusterIssuer, name: self}}}
- {apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: self}, spec: {selfSigned: {}}}
- {apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: e, namespace: default}, spec: {target: {name: pw}, secretStoreRef: {kind: ClusterSecretStore, name: vault}}}
- {apiVersion: external-secrets.io/v1, kind: ClusterSecretStore, metadata: {name: vault}}
- {apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: sealed, namespace: default}}
)");
  EXPECT_THAT(needs_of(graph), ElementsAre("Pod default/a -> Certificate default/cert soft: volume tls",
                                           "Pod default/b -> ExternalSecret default/e soft: volume pw",
                                           "Pod default/c -> SealedSecret default/sealed soft: volume s",
                                           "Certificate default/cert -> Issuer default/ca soft: its issuer",
                                           "Issuer default/ca -> Certificate default/root soft: its CA",
                                           "Certificate default/root -> ClusterIssuer self soft: its issuer",
                                           "ExternalSecret default/e -> ClusterSecretStore vault soft: its store"));
}

TEST(References, IngressAutoscalerAndBudget) {
  Graph graph = graph_of(R"(
apiVersion: v1
kind: List
items:
- apiVersion: networking.k8s.io/v1
  kind: Ingress
  metadata: {name: i}
  spec:
    ingressClassName: nginx
    defaultBackend: {service: {name: back}}
    tls: [{secretName: tls}]
    rules: [{http: {paths: [{backend: {service: {name: web}}}]}}]
- {apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}}
- {apiVersion: v1, kind: Service, metadata: {name: back}}
- {apiVersion: v1, kind: Service, metadata: {name: web}}
- {apiVersion: v1, kind: Secret, metadata: {name: tls}}
- {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}
- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p}, spec: {selector: {matchLabels: {app: web, tier: a}}}}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {metadata: {labels: {app: web, tier: a}}}}}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: other}, spec: {template: {metadata: {labels: {app: web, tier: b}}}}}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: third}, spec: {template: {metadata: {labels: {app: api, tier: a}}}}}
)");
  EXPECT_THAT(needs_of(graph),
              ElementsAre("Ingress default/i -> Service default/back soft: its backend",
                          "Ingress default/i -> Service default/web soft: its backend",
                          "Ingress default/i -> IngressClass nginx soft: its IngressClass",
                          "Ingress default/i -> Secret default/tls soft: its certificate",
                          "HorizontalPodAutoscaler default/h -> Deployment default/web soft: what it scales",
                          "PodDisruptionBudget default/p -> Deployment default/web soft: what it protects"));
}

TEST(References, SoftNeedsThatCloseALoopAreDropped) {
  Graph graph = graph_of(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c, namespace: default}, spec: {secretName: s, issuerRef: {name: i}}}
- {apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: i, namespace: default}, spec: {ca: {secretName: s}}}
)");
  EXPECT_EQ(needs_of(graph).size(), 1u);
  EXPECT_TRUE(has_order(graph));
  EXPECT_EQ(reports_of(graph), "");
}

TEST(References, HostileShapes) {
  Graph graph = graph_of(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: [1, 2]}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: b}, spec: {template: {spec: {volumes: {a: b}, containers: [1, {env: x}]}}}}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: c}, roleRef: 7, subjects: [[], {}]}
- {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: d}, spec: x}
- {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: e}, webhooks: [1, {}]}
- {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: f}, spec: []}
- {apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: g}, spec: {service: {port: -5}}}
- {apiVersion: v1, kind: Service, metadata: {name: h}, spec: {selector: [1]}}
)");
  EXPECT_TRUE(has_order(graph));
  EXPECT_THAT(Graph::build({}, {}).nodes(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::graph
