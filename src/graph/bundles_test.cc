// Bundles like those of well-known operators: what their guards depend on, and what has to wait for the guards.
#include <gmock/gmock.h>

#include "graph/graph_testing.h"

namespace fairlead::graph {
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using Text = std::string;

std::string definition(std::string_view group, std::string_view kind, std::string_view plural,
                       std::string_view scope = "Namespaced", std::string_view more = "") {
  return fmt::format(R"(---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {2}.{0}}}
spec:
  group: {0}
  scope: {3}
  names: {{kind: {1}, plural: {2}}}
  versions:
  - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}
{4})",
                     group, kind, plural, scope, more);
}

// A workload with an account of its own, and rights for it.
std::string workload(std::string_view kind, std::string_view ns, std::string_view name, std::string_view pods = "") {
  return fmt::format(R"(---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: {2}, namespace: {1}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: {2}}}
rules: [{{apiGroups: [""], resources: [events], verbs: [create]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: {2}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {2}}}
subjects: [{{kind: ServiceAccount, name: {2}, namespace: {1}}}]
---
apiVersion: apps/v1
kind: {0}
metadata: {{name: {2}, namespace: {1}}}
spec:
  selector: {{matchLabels: {{app: {2}}}}}
  template:
    metadata: {{labels: {{app: {2}}}}}
    spec:
      serviceAccountName: {2}
      containers: [{{name: main, image: "example.com/{2}:1", ports: [{{containerPort: 9443}}]}}]
{3})",
                     kind, ns, name, pods);
}

std::string service(std::string_view ns, std::string_view name, std::string_view app) {
  return fmt::format(R"(---
apiVersion: v1
kind: Service
metadata: {{name: {1}, namespace: {0}}}
spec: {{selector: {{app: {2}}}, ports: [{{port: 443, targetPort: 9443}}]}}
)",
                     ns, name, app);
}

struct Hook {
  std::string_view kind = "ValidatingWebhookConfiguration";
  std::string_view configuration;
  std::string_view annotations = "{}";
  std::string_view name;
  std::string_view service;  // "namespace: x, name: y"
  std::string_view group;
  std::string_view resources;
};
std::string webhook(const Hook& hook) {
  return fmt::format(R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: {}
metadata: {{name: {}, annotations: {}}}
webhooks:
- name: {}
  clientConfig: {{service: {{{}}}}}
  rules: [{{apiGroups: ['{}'], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [{}]}}]
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
)",
                     hook.kind, hook.configuration, hook.annotations, hook.name, hook.service, hook.group,
                     hook.resources);
}

std::string name_space(std::string_view name) {
  return fmt::format("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {}}}\n", name);
}

// Three workloads: one issues certificates, one is the webhook, and one puts certificate authorities into
// configurations. With a root of one's own, and a certificate by it.
std::string certificates() {
  constexpr std::string_view kGroup = "cert-manager.io";
  constexpr std::string_view kNs = "cert-manager";
  constexpr std::string_view kFromSecret =
      "{cert-manager.io/inject-ca-from-secret: cert-manager/cert-manager-webhook-ca}";
  constexpr std::string_view kService = "namespace: cert-manager, name: cert-manager-webhook";
  std::string text = webhook({.kind = "MutatingWebhookConfiguration",
                              .configuration = "cert-manager-webhook",
                              .annotations = kFromSecret,
                              .name = "m.cert-manager.io",
                              .service = kService,
                              .group = kGroup,
                              .resources = "certificaterequests"}) +
                     webhook({.configuration = "cert-manager-webhook",
                              .annotations = kFromSecret,
                              .name = "v.cert-manager.io",
                              .service = kService,
                              .group = kGroup,
                              .resources = "'*'"});
  for (std::string_view name : {"cert-manager", "cert-manager-webhook", "cert-manager-cainjector"})
    text += workload("Deployment", kNs, name);
  text += service(kNs, "cert-manager-webhook", "cert-manager-webhook") + definition(kGroup, "Issuer", "issuers") +
          definition(kGroup, "ClusterIssuer", "clusterissuers", "Cluster") +
          definition(kGroup, "Certificate", "certificates") + name_space(kNs);
  return text + R"(---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: site, namespace: default}
spec: {secretName: site, issuerRef: {kind: ClusterIssuer, name: root}}
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: root}
spec: {ca: {secretName: root}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: root, namespace: cert-manager}
spec: {isCA: true, secretName: root, issuerRef: {kind: ClusterIssuer, name: self-signed}}
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: self-signed}
spec: {selfSigned: {}}
)";
}

// A webhook apart from the controller, and a third workload that makes its certificate and fills it in.
std::string secrets() {
  constexpr std::string_view kGroup = "external-secrets.io";
  constexpr std::string_view kNs = "external-secrets";
  constexpr std::string_view kService = "namespace: external-secrets, name: external-secrets-webhook";
  std::string text = R"(---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: password, namespace: default}
spec: {secretStoreRef: {kind: ClusterSecretStore, name: vault}, target: {name: password}}
---
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: vault}
spec: {provider: {}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, namespace: default}
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers: [{name: shop, image: "example.com/shop:1", envFrom: [{secretRef: {name: password}}]}]
)";
  text += webhook({.configuration = "externalsecret-validate",
                   .name = "validate.externalsecret.external-secrets.io",
                   .service = kService,
                   .group = kGroup,
                   .resources = "externalsecrets"}) +
          webhook({.configuration = "secretstore-validate",
                   .name = "validate.clustersecretstore.external-secrets.io",
                   .service = kService,
                   .group = kGroup,
                   .resources = "clustersecretstores"});
  for (std::string_view name : {"external-secrets", "external-secrets-cert-controller"})
    text += workload("Deployment", kNs, name);
  text += workload("Deployment", kNs, "external-secrets-webhook",
                   "      volumes: [{name: certs, secret: {secretName: external-secrets-webhook}}]\n");
  return text + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: external-secrets-webhook, namespace: " +
         std::string(kNs) + "}\n" + service(kNs, "external-secrets-webhook", "external-secrets-webhook") +
         definition(kGroup, "ExternalSecret", "externalsecrets") +
         definition(kGroup, "ClusterSecretStore", "clustersecretstores", "Cluster") + name_space(kNs);
}

// A Job makes the certificate that the pods mount, and another one writes it into the configuration.
std::string ingresses() {
  constexpr std::string_view kNs = "ingress-nginx";
  auto job = [&](std::string_view name, std::string_view does) {
    return fmt::format(R"(---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: {1}, namespace: {0}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: {1}, namespace: {0}}}
spec:
  template:
    spec:
      serviceAccountName: {1}
      restartPolicy: OnFailure
      containers: [{{name: main, image: "example.com/certgen:1", args: [{2}, --secret-name=ingress-nginx-admission]}}]
)",
                       kNs, name, does);
  };
  return R"(---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: default}
spec:
  ingressClassName: nginx
  defaultBackend: {service: {name: shop, port: {number: 80}}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
)" +
         webhook({.configuration = "ingress-nginx-admission",
                  .name = "validate.nginx.ingress.kubernetes.io",
                  .service = "namespace: ingress-nginx, name: ingress-nginx-controller-admission",
                  .group = "networking.k8s.io",
                  .resources = "ingresses"}) +
         job("ingress-nginx-admission-patch", "patch") + job("ingress-nginx-admission-create", "create") +
         workload("Deployment", kNs, "ingress-nginx-controller",
                  "      volumes: [{name: webhook-cert, secret: {secretName: ingress-nginx-admission}}]\n") +
         service(kNs, "ingress-nginx-controller-admission", "ingress-nginx-controller") + name_space(kNs);
}

// One workload in one place, one on every node, and CRDs that the webhook converts.
std::string addresses() {
  constexpr std::string_view kNs = "metallb-system";
  constexpr std::string_view kConverts =
      R"(  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {namespace: metallb-system, name: webhook-service, path: /convert}}
)";
  return R"(---
apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata: {name: first, namespace: metallb-system}
spec: {addresses: [192.0.2.0/28]}
)" +
         webhook({.configuration = "metallb-webhook-configuration",
                  .name = "pools.metallb.io",
                  .service = "namespace: metallb-system, name: webhook-service",
                  .group = "metallb.io",
                  .resources = "ipaddresspools"}) +
         workload("DaemonSet", kNs, "speaker") + workload("Deployment", kNs, "controller") +
         service(kNs, "webhook-service", "controller") +
         definition("metallb.io", "IPAddressPool", "ipaddresspools", "Namespaced", kConverts) + name_space(kNs);
}

// Nothing is wrong with it, and every guard has somebody who answers.
void check(const Graph& graph) {
  EXPECT_FALSE(graph.has_errors()) << reports_of(graph);
  EXPECT_TRUE(has_order(graph));
  EXPECT_FALSE(graph.guards().empty());
  for (const Guard& guard : graph.guards()) EXPECT_FALSE(guard.backed_by.empty()) << guard.text();
}

TEST(Bundles, AnIssuerOfCertificates) {
  Graph graph = graph_of(certificates());
  check(graph);
  EXPECT_THAT(needs_of(graph),
              IsSupersetOf({
                  Text("webhook v.cert-manager.io (ValidatingWebhookConfiguration cert-manager-webhook) -> Deployment "
                       "cert-manager/cert-manager-webhook ready: answers behind Service "
                       "cert-manager/cert-manager-webhook"),
                  Text("Certificate default/site -> ClusterIssuer root soft: its issuer"),
                  Text("ClusterIssuer root -> Certificate cert-manager/root soft: its CA"),
                  Text("Certificate cert-manager/root -> ClusterIssuer self-signed soft: its issuer"),
                  Text("ClusterIssuer self-signed -> webhook v.cert-manager.io (ValidatingWebhookConfiguration "
                       "cert-manager-webhook) ready: webhook v.cert-manager.io guards it"),
              }));
  // Neither what issues certificates nor what is behind the webhook waits for it.
  EXPECT_THAT(needs_of(graph), Not(Contains(ContainsRegex("^(Deployment|ServiceAccount) .* -> webhook "))));
}

TEST(Bundles, SecretsFromElsewhere) {
  Graph graph = graph_of(secrets());
  check(graph);
  EXPECT_THAT(needs_of(graph),
              IsSupersetOf({
                  Text("ExternalSecret default/password -> webhook validate.externalsecret.external-secrets.io "
                       "(ValidatingWebhookConfiguration externalsecret-validate) ready: webhook "
                       "validate.externalsecret.external-secrets.io guards it"),
                  Text("ExternalSecret default/password -> ClusterSecretStore vault soft: its store"),
                  Text("Deployment default/shop -> ExternalSecret default/password soft: envFrom of container shop"),
                  Text("webhook validate.externalsecret.external-secrets.io (ValidatingWebhookConfiguration "
                       "externalsecret-validate) -> Secret external-secrets/external-secrets-webhook: its certificate"),
              }));
}

TEST(Bundles, AnIngressControllerWithJobsForItsCertificate) {
  Graph graph = graph_of(ingresses());
  check(graph);
  EXPECT_THAT(needs_of(graph),
              IsSupersetOf({
                  Text("Ingress default/shop -> webhook validate.nginx.ingress.kubernetes.io "
                       "(ValidatingWebhookConfiguration ingress-nginx-admission) ready: webhook "
                       "validate.nginx.ingress.kubernetes.io guards it"),
                  Text("webhook validate.nginx.ingress.kubernetes.io (ValidatingWebhookConfiguration "
                       "ingress-nginx-admission) -> Job ingress-nginx/ingress-nginx-admission-create ready: makes its "
                       "certificate"),
                  Text("webhook validate.nginx.ingress.kubernetes.io (ValidatingWebhookConfiguration "
                       "ingress-nginx-admission) -> Job ingress-nginx/ingress-nginx-admission-patch ready: makes its "
                       "certificate"),
                  Text("Job ingress-nginx/ingress-nginx-admission-patch -> ValidatingWebhookConfiguration "
                       "ingress-nginx-admission soft: it puts the certificate there"),
              }));
}

TEST(Bundles, AddressesWithAConversion) {
  Graph graph = graph_of(addresses());
  check(graph);
  EXPECT_THAT(needs_of(graph),
              IsSupersetOf({
                  Text("IPAddressPool metallb-system/first -> webhook pools.metallb.io and one other ready: the "
                       "webhooks and policies that guard it"),
                  Text("webhook pools.metallb.io and one other -> conversion of ipaddresspools.metallb.io ready: "
                       "conversion of ipaddresspools.metallb.io guards it"),
                  Text("conversion of ipaddresspools.metallb.io -> Deployment metallb-system/controller ready: answers "
                       "behind Service metallb-system/webhook-service"),
              }));
  // The one on every node answers nobody.
  EXPECT_THAT(needs_of(graph), Not(Contains(HasSubstr("-> DaemonSet metallb-system/speaker"))));
}

TEST(Bundles, AllAtOnce) { check(graph_of(certificates() + secrets() + ingresses() + addresses())); }

}  // namespace
}  // namespace fairlead::graph
