// Webhooks that cannot be called, and requests that failed because of it.
#include "doctor/made_to_happen_testing.h"

namespace fairlead::doctor {
namespace {

constexpr std::string_view kAnotherInstance = R"(
apiVersion: example.com/v1
kind: Widget
metadata: {name: two, namespace: default}
)";

constexpr std::string_view kWeb = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
)";

}  // namespace

std::vector<Cause> causes_of_outages() {
  return {
      {.code = "webhook-orphaned",
       .make =
           [](HealthyCluster& on) {
             on.remove("namespaces/operator");
             on.pass(minutes(5));
           }},
      {.code = "webhook-service-missing", .make = [](HealthyCluster& on) { on.remove("services/operator/hook"); }},
      {.code = "webhook-port-missing",
       .make = [](HealthyCluster& on) { on.set("services/operator/hook", "/spec/ports/0/port", 444); }},
      {.code = "webhook-no-endpoints",
       .make =
           [](HealthyCluster& on) {
             on.set("deployments/operator/hook", "/spec/replicas", 0);
             on.pass(minutes(1));
           }},
      {.code = "webhook-skipped",
       .make =
           [](HealthyCluster& on) {
             on.set_webhook("failurePolicy", R"("Ignore")");
             on.remove("services/operator/hook");
           }},
      {.code = "webhook-network-policy",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: shut, namespace: operator}
spec: {podSelector: {matchLabels: {app: hook}}, policyTypes: [Ingress]}
)");
           }},
      {.code = "webhook-refused-objects",
       .make =
           [](HealthyCluster& on) {  // A controller cannot create pods while the webhook is away.
             on.set_webhook("rules", R"([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                             "resources": ["pods"]}])");
             on.set_webhook("objectSelector", R"({"matchLabels": {"app": "web"}})");
             on.pass(minutes(1));
             on.answer_with(503);
             on.add(kWeb);
             on.pass(minutes(1));
             on.answer_with(200);
             on.pass(minutes(20));
           },
       .also = {"webhook-calls-failed"}},
      {.code = "webhook-calls-failed",
       .make =
           [](HealthyCluster& on) {
             on.answer_with(500);
             on.add_in_vain(kAnotherInstance);
           }},
      {.code = "webhook-failed-open",
       .make =
           [](HealthyCluster& on) {
             on.set_webhook("failurePolicy", R"("Ignore")");
             on.pass(minutes(1));
             on.answer_with(500);
             on.add(kAnotherInstance);
           }},
      {.code = "webhook-condition-errors",
       .make =
           [](HealthyCluster& on) {
             on.set_webhook("matchConditions", R"([{"name": "small", "expression": "object.spec.size < 3"}])");
             on.pass(minutes(1));
             on.add_in_vain(kAnotherInstance);
           }},
  };
}

}  // namespace fairlead::doctor
