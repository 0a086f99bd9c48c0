// Certificates and caBundles.
#include "doctor/made_to_happen_testing.h"

namespace fairlead::doctor {

std::vector<Cause> causes_of_certificates() {
  return {
      {.code = "ca-bundle-empty",
       .make = [](HealthyCluster& on) { on.set(kConfiguration, "/webhooks/0/clientConfig/caBundle", ""); }},
      {.code = "ca-bundle-invalid",
       .make =
           [](HealthyCluster& on) {
             on.set(kConfiguration, "/webhooks/0/clientConfig/caBundle",
                    to_base64("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
           }},
      {.code = "ca-bundle-expired",
       .make =
           [](HealthyCluster& on) {
             on.trust(on.renewed_ca(20 * kDay).certificate);
             on.pass(21 * kDay);
           }},
      {.code = "ca-bundle-expiring",
       .make =
           [](HealthyCluster& on) {
             on.trust(on.renewed_ca(20 * kDay).certificate);
             on.pass(10 * kDay);
           }},
      {.code = "ca-bundle-differs",
       .make =
           [](HealthyCluster& on) {
             on.add(fmt::format(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {{name: widgets}}
webhooks:
- name: m.widgets.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {{service: {{namespace: operator, name: hook, path: /m}}, caBundle: {}}}
  rules: [{{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}}]
)",
                                to_base64(on.other_ca().certificate.to_pem())));
           },
       .also = {"certificate-untrusted"}},
      {.code = "ca-injection-missing",
       .make =
           [](HealthyCluster& on) {
             on.set(kConfiguration, "/metadata/annotations",
                    Json::Object{{"cert-manager.io/inject-ca-from", "operator/hook"}});
             on.set(kConfiguration, "/webhooks/0/clientConfig/caBundle", "");
           }},
      {.code = "certificate-expired",
       .make =
           [](HealthyCluster& on) {
             on.serve_with(on.leaf(20 * kDay));
             on.pass(21 * kDay);
           }},
      {.code = "certificate-not-yet-valid",
       .make = [](HealthyCluster& on) { on.serve_with(on.leaf(365 * kDay, "hook.operator.svc", 2 * kDay)); }},
      {.code = "certificate-expiring",
       .make =
           [](HealthyCluster& on) {
             on.serve_with(on.leaf(20 * kDay));
             on.pass(10 * kDay);
           }},
      {.code = "certificate-wrong-name",
       .make = [](HealthyCluster& on) { on.serve_with(on.leaf(365 * kDay, "hook.elsewhere.svc")); }},
      {.code = "certificate-untrusted", .make = [](HealthyCluster& on) { on.trust(on.other_ca().certificate); }},
      {.code = "certificate-key-mismatch",
       .make =
           [](HealthyCluster& on) {
             on.serve_with({.certificate = on.leaf(365 * kDay).certificate, .key = on.leaf(365 * kDay).key});
           }},
  };
}

}  // namespace fairlead::doctor
