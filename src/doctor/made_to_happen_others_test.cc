// CRDs, APIServices, deletions, bundles, policies, gates, Helm releases, deprecated versions.
#include "doctor/made_to_happen_testing.h"

namespace fairlead::doctor {

std::vector<Cause> causes_of_others() {
  return {
      {.code = "conversion-dead",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {namespace: operator, name: converter}}
)");
             on.pass(minutes(1));
           }},
      {.code = "crd-names-conflict",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: others.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: others}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)");
             on.pass(minutes(5));
           }},
      {.code = "crd-not-established",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com, annotations: {sandbox.fairlead.dev/established-after: 1h}}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)");
             on.pass(minutes(5));
           }},
      {.code = "crd-stored-version-unserved",
       .make =
           [](HealthyCluster& on) {
             on.set("customresourcedefinitions/widgets.example.com", "/spec/versions", *Json::parse(R"([
                 {"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
                 {"name": "v1", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}}])"));
             on.set("customresourcedefinitions/widgets.example.com", "/spec/versions", *Json::parse(R"([
                 {"name": "v1alpha1", "served": false, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}},
                 {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}])"));
             on.pass(minutes(1));
           }},
      {.code = "crd-stored-version-gone",
       .make =
           [](HealthyCluster& on) {
             on.set("customresourcedefinitions/widgets.example.com", "/status/storedVersions",
                    Json::Array{"v1alpha1", "v1"}, "status");
           }},
      {.code = "apiservice-unavailable",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.metrics.example.com}
spec:
  group: metrics.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {namespace: operator, name: gone}
)");
             on.pass(minutes(10));
           }},
      {.code = "deletion-stuck",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Service
metadata: {name: kept, namespace: default, finalizers: [acme.dev/cleanup]}
spec: {ports: [{port: 80}]}
)");
             on.remove("services/default/kept");
             on.pass(minutes(10));
           }},
      {.code = "bundle-members-missing",
       .make =
           [](HealthyCluster& on) {
             on.add_inventory("Service");
             on.apply_member("shop", "shop");
             on.keep_revision();
             on.remove("services/default/shop");
             on.pass(minutes(1));
           }},
      {.code = "bundle-inventory-missing",
       .make =
           [](HealthyCluster& on) {
             on.add_inventory("Service");
             on.apply_member("shop", "shop");
             on.remove("configmaps/default/fairlead-shop");
           }},
      {.code = "bundle-not-covered",
       .make =
           [](HealthyCluster& on) {
             on.add_inventory("ConfigMap");
             on.apply_member("shop", "shop");
           }},
      {.code = "bundle-label-differs",
       .make =
           [](HealthyCluster& on) {
             on.add_inventory("Service");
             on.apply_member("shop", "other");
           }},
      {.code = "policy-unbound",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: sizes}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: "true"}]
)");
             on.pass(minutes(1));
           }},
      {.code = "policy-missing",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: sizes}
spec: {policyName: sizes, validationActions: [Deny]}
)");
             on.pass(minutes(1));
           }},
      {.code = "policy-param-kind-missing",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: sizes}
spec:
  paramKind: {apiVersion: rules.example.com/v1, kind: Rule}
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: "true"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: sizes}
spec: {policyName: sizes, validationActions: [Deny], paramRef: {name: lost, namespace: default, parameterNotFoundAction: Deny}}
)");
             on.pass(minutes(1));
           }},
      {.code = "policy-param-missing",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: sizes}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: "true"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: sizes}
spec: {policyName: sizes, validationActions: [Deny], paramRef: {name: lost, namespace: default, parameterNotFoundAction: Deny}}
)");
             on.pass(minutes(1));
           }},
      {.code = "gate-left-behind", .make = [](HealthyCluster& on) { on.add(kGateObjects); }},
      {.code = "gate-not-answering",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Service
metadata: {name: fairlead-gate, namespace: operator}
spec: {selector: {app: fairlead-gate}, ports: [{port: 443}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: fairlead-gate, namespace: operator}
spec:
  selector: {matchLabels: {app: fairlead-gate}}
  template:
    metadata: {labels: {app: fairlead-gate}, annotations: {sandbox.fairlead.dev/fail: never-ready}}
    spec: {containers: [{name: gate, image: gate}]}
)");
             on.add(kGateObjects);
             on.pass(minutes(10));
           }},
      {.code = "helm-release-pending",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Secret
metadata:
  name: sh.helm.release.v1.shop.v1
  namespace: default
  labels: {owner: helm, name: shop, status: pending-install, version: "1"}
)");
             on.pass(minutes(20));
           }},
      {.code = "deprecated-api-in-manifests",
       .make = [](HealthyCluster&) {},
       .subject = {.bundle = manifest::bundle_of(R"(
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
)")
                                 .objects}},
      {.code = "deprecated-api-used",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1alpha1, served: true, storage: false, deprecated: true, schema: {openAPIV3Schema: {type: object}}}
)");
             on.pass(minutes(1));
             on.add(R"(
apiVersion: example.com/v1
kind: Gadget
metadata: {name: one, namespace: default}
)");
             on.set("gadgets.v1alpha1.example.com/default/one", "/metadata/labels", Json::Object{{"old", "yes"}});
           }},
  };
}

}  // namespace fairlead::doctor
