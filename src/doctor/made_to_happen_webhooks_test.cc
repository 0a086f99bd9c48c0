// Webhooks whose configuration is dangerous or has no effect.
#include "doctor/made_to_happen_testing.h"

namespace fairlead::doctor {

std::vector<Cause> causes_of_webhooks() {
  return {
      {.code = "webhook-critical",
       .make =
           [](HealthyCluster& on) {
             on.set_webhook("rules", R"([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                                          "resources": ["nodes"]}])");
           }},
      {.code = "webhook-slow", .make = [](HealthyCluster& on) { on.set_webhook("timeoutSeconds", "30"); }},
      {.code = "webhook-guards-itself",
       .make =
           [](HealthyCluster& on) {
             on.set_webhook("objectSelector", R"({"matchLabels": {"app": "hook"}})");
             on.set_webhook("rules", R"([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                          "resources": ["pods"]}])");
           }},
      {.code = "webhook-matches-nothing",
       .make = [](HealthyCluster& on) { on.set_webhook("rules/0/resources", R"(["wigdets"])"); }},
      {.code = "webhook-matches-no-namespace",
       .make =
           [](HealthyCluster& on) { on.set_webhook("namespaceSelector", R"({"matchLabels": {"widgets": "yes"}})"); }},
      {.code = "webhook-namespaces-exempt",
       .make =
           [](HealthyCluster& on) {
             on.set_webhook("namespaceSelector", R"({"matchExpressions": [{"key": "kubernetes.io/metadata.name",
                                                     "operator": "NotIn", "values": ["default"]}]})");
           }},
      {.code = "webhook-skips-object",
       .make = [](HealthyCluster& on) { on.set_webhook("objectSelector", R"({"matchLabels": {"size": "big"}})"); },
       .subject = {.object = "widget/one"}},
      {.code = "webhook-none",
       .make = [](HealthyCluster& on) { on.remove(kConfiguration); },
       .subject = {.object = "widget/one"}},
      {.code = "webhook-no-dry-run",
       .make =
           [](HealthyCluster&
                  on) {  // Version v1 of the configuration cannot say this; v1beta1 could, and what is stored stays.
             Json stored = on.stored(kConfiguration);
             stored.make("webhooks").if_array()->front().make("sideEffects") = "Some";
             on.store(kConfiguration, std::move(stored));
           }},
      {.code = "webhook-single-replica",
       .make =
           [](HealthyCluster& on) {
             on.set("deployments/operator/hook", "/spec/replicas", 1);
             on.pass(minutes(1));
           }},
      {.code = "webhook-no-budget",
       .make = [](HealthyCluster& on) { on.remove("poddisruptionbudgets/operator/hook"); }},
  };
}

}  // namespace fairlead::doctor
