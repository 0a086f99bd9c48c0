// Troubles of admission policies and of Helm releases, and what the API server counts.
#include "doctor/internal/policies.h"

#include "doctor/doctor_testing.h"
#include "doctor/metrics.h"

namespace fairlead::doctor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::string_view kPolicy = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limits}
spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: "true"}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limits}
spec: {policyName: limits, validationActions: [Deny]}
)";

class PoliciesTest : public DoctorTest {
 protected:
  PoliciesTest() { add(kPolicy); }
};

TEST_F(PoliciesTest, NothingIsWrong) { EXPECT_THAT(found(), IsEmpty()); }

TEST_F(PoliciesTest, PolicyUnbound) {
  remove("ValidatingAdmissionPolicyBinding", "limits");
  EXPECT_EQ(only(),
            "info policy-unbound: ValidatingAdmissionPolicy limits has no effect\n"
            "because no binding names it\n"
            "next kubectl get ValidatingAdmissionPolicyBindings");
}

TEST_F(PoliciesTest, PolicyMissing) {
  remove("ValidatingAdmissionPolicy", "limits");
  EXPECT_EQ(only(),
            "warning policy-missing: ValidatingAdmissionPolicyBinding limits has no effect\n"
            "because ValidatingAdmissionPolicy limits, which it names, does not exist\n"
            "next kubectl get validatingadmissionpolicybinding limits -o yaml");
}

TEST_F(PoliciesTest, PolicyParamKindMissing) {
  set(object("ValidatingAdmissionPolicy", "limits"), {"spec", "paramKind"},
      R"({"apiVersion": "rules.example.com/v1", "kind": "Limit"})");
  EXPECT_EQ(only(),
            "error policy-param-kind-missing: ValidatingAdmissionPolicy limits cannot be evaluated\n"
            "because the cluster serves no kind Limit in rules.example.com/v1, which has its parameters\n"
            "blocks every request that it matches\n"
            "next kubectl get validatingadmissionpolicy limits -o yaml");
}

TEST_F(PoliciesTest, PolicyParamMissing) {
  set(object("ValidatingAdmissionPolicy", "limits"), {"spec", "paramKind"},
      R"({"apiVersion": "v1", "kind": "ConfigMap"})");
  set(object("ValidatingAdmissionPolicyBinding", "limits"), {"spec", "paramRef"},
      R"({"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"})");
  EXPECT_THAT(found(), IsEmpty()) << "it was not looked for";
  EXPECT_THAT(policy_parameters(snapshot()),
              ElementsAre(object::Key{.group = "", .kind = "ConfigMap", .ns = "default", .name = "limits"}));
  Snapshot asked = snapshot();
  asked.absent = {policy_parameters(asked).front()};
  Findings all = check_all(asked);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].code, "policy-param-missing");
  EXPECT_EQ(all[0].severity, Severity::error);
  EXPECT_EQ(all[0].what, "ValidatingAdmissionPolicyBinding limits refuses everything");
  EXPECT_THAT(all[0].causes, ElementsAre("ConfigMap default/limits, which it names as its parameter, does not exist"));
  set(object("ValidatingAdmissionPolicyBinding", "limits"), {"spec", "paramRef", "parameterNotFoundAction"},
      R"("Allow")");
  asked = snapshot();
  asked.absent = {policy_parameters(asked).front()};
  EXPECT_EQ(check_all(asked).at(0).what, "ValidatingAdmissionPolicyBinding limits has no effect");
}

TEST_F(PoliciesTest, AParameterInTheNamespaceOfEachRequestIsNotLookedFor) {
  set(object("ValidatingAdmissionPolicy", "limits"), {"spec", "paramKind"},
      R"({"apiVersion": "v1", "kind": "ConfigMap"})");
  set(object("ValidatingAdmissionPolicyBinding", "limits"), {"spec", "paramRef"},
      R"({"name": "limits", "parameterNotFoundAction": "Deny"})");
  EXPECT_THAT(policy_parameters(snapshot()), IsEmpty());
}

TEST_F(PoliciesTest, PolicyTypeErrors) {
  set(object("ValidatingAdmissionPolicy", "limits"), {"status", "typeChecking", "expressionWarnings"},
      R"([{"fieldRef": "spec.validations[0].expression", "warning": "undefined field 'x'"}])");
  EXPECT_EQ(
      only(),
      "warning policy-type-errors: ValidatingAdmissionPolicy limits has expressions that do not fit the objects that "
      "it matches\n"
      "because spec.validations[0].expression: undefined field 'x'\n"
      "next kubectl get validatingadmissionpolicy limits -o yaml");
}

TEST_F(DoctorTest, HelmReleasePending) {
  add(R"(
apiVersion: v1
kind: Secret
metadata:
  name: sh.helm.release.v1.shop.v2
  namespace: default
  creationTimestamp: "2030-02-28T23:50:00Z"
  labels: {owner: helm, name: shop, status: pending-upgrade, version: "2"}
)");
  EXPECT_THAT(found(), IsEmpty()) << "helm may still be running";
  object("Secret", "sh.helm.release.v1.shop.v2").make("metadata").make("creationTimestamp") = "2030-02-28T00:00:00Z";
  EXPECT_EQ(only(),
            "warning helm-release-pending: Helm release default/shop is pending-upgrade\n"
            "because the helm that was working on it was stopped, or could not write its result\n"
            "blocks the next install or upgrade of the release\n"
            "next helm -n default rollback shop");
  object("Secret", "sh.helm.release.v1.shop.v2").make("metadata").make("labels").make("status") = "pending-install";
  EXPECT_EQ(findings().at(0).next, "helm -n default uninstall shop, and install it again");
  // After a rollback, its record stays as it was.
  add(R"(
apiVersion: v1
kind: Secret
metadata:
  name: sh.helm.release.v1.shop.v10
  namespace: default
  creationTimestamp: "2030-02-28T00:01:00Z"
  labels: {owner: helm, name: shop, status: deployed, version: "10"}
)");
  EXPECT_THAT(found(), IsEmpty());
  remove("Secret", "sh.helm.release.v1.shop.v10");
  // HELM_DRIVER=configmap.
  object("Secret", "sh.helm.release.v1.shop.v2").make("kind") = "ConfigMap";
  EXPECT_THAT(found(), ElementsAre("warning helm-release-pending"));
}

constexpr std::string_view kMetrics = R"(# HELP apiserver_admission_webhook_rejection_count help
apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="v.widgets.example.com",operation="CREATE",rejection_code="503",type="validating"} 2
apiserver_admission_webhook_rejection_count{error_type="no_error",name="v.widgets.example.com",operation="CREATE",rejection_code="403",type="validating"} 9
apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="v.widgets.example.com",operation="CREATE",rejection_code="404",type="validating"} 1
apiserver_admission_webhook_fail_open_count{name="v.widgets.example.com",type="validating"} 2
apiserver_admission_webhook_request_total{code="200",name="v.widgets.example.com",operation="CREATE",rejected="false",type="validating"} 5
apiserver_admission_webhook_request_total{code="500",name="v.widgets.example.com",operation="CREATE",rejected="false",type="validating"} 2
apiserver_admission_webhook_fail_open_count{name="x",type="validating"} 0
apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.32",resource="flowschemas",subresource="",version="v1beta3"} 1
apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1
apiserver_request_total{code="200"} 7
)";

TEST_F(DoctorTest, WebhookCallsFailedAndWebhookFailedOpenAndDeprecatedApiUsed) {
  Snapshot counted = snapshot();
  counted.metrics = Metrics::parse(kMetrics);
  Findings all = check_all(counted);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].code, "deprecated-api-used");
  EXPECT_EQ(all[0].severity, Severity::warning);
  EXPECT_EQ(all[0].what, "a client uses flowschemas in flowcontrol.apiserver.k8s.io/v1beta3, which is deprecated");
  EXPECT_THAT(all[0].causes, ElementsAre("Kubernetes 1.32 does not have it"));
  EXPECT_EQ(all[1].code, "webhook-calls-failed");
  EXPECT_EQ(all[1].what, "webhook v.widgets.example.com (ValidatingWebhookConfiguration widgets) made 3 requests fail");
  EXPECT_THAT(all[1].causes,
              ElementsAre("it answered with HTTP status 404 and 500",
                          "the API server got no valid answer: a refused connection, a timeout, an untrusted "
                          "certificate, HTTP status 503, or something that is no AdmissionReview",
                          "it has answered 14 requests since the API server was started"));
  EXPECT_EQ(all[1].next, "fairlead wait webhook/widgets --layers --timeout 30s");
  EXPECT_EQ(all[2].code, "webhook-failed-open");
  EXPECT_EQ(all[2].what,
            "webhook v.widgets.example.com (ValidatingWebhookConfiguration widgets) was skipped for 2 requests");
  EXPECT_EQ(all[2].severity, Severity::info);
}

TEST_F(DoctorTest, AWebhookThatNeverAnsweredIsAWarning) {
  Snapshot counted = snapshot();
  counted.metrics.calls["v.widgets.example.com"] = {.refused = 1, .statuses = {"404"}};
  Findings all = check_all(counted);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].severity, Severity::warning);
  EXPECT_THAT(all[0].causes, ElementsAre("it answered with HTTP status 404",
                                         "it has not answered a single request since the API server was started"));
  // Another finding says why: this one is only evidence.
  remove("Service", "hook");
  Snapshot without = snapshot();
  without.metrics = counted.metrics;
  EXPECT_EQ(check_all(without).back().code, "webhook-calls-failed");
  EXPECT_EQ(check_all(without).back().severity, Severity::info);
}

TEST_F(DoctorTest, WebhookConditionErrors) {
  set(first_webhook(), {"matchConditions"}, R"([{"name": "small", "expression": "object.spec.size < 3"}])");
  Snapshot counted = snapshot();
  counted.metrics = Metrics::parse(
      "apiserver_admission_match_condition_evaluation_errors_total{kind=\"webhook\",name=\"v.widgets.example.com\"} 2\n"
      "apiserver_admission_match_condition_evaluation_errors_total{kind=\"policy\",name=\"v.widgets.example.com\"} 7\n"
      "apiserver_admission_match_condition_evaluation_seconds_count{kind=\"webhook\",name=\"v.widgets.example.com\"} "
      "2\n");
  Findings all = check_all(counted);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].code, "webhook-condition-errors");
  EXPECT_EQ(all[0].severity, Severity::warning);
  EXPECT_EQ(all[0].what,
            "matchConditions of webhook v.widgets.example.com (ValidatingWebhookConfiguration widgets) could not be "
            "evaluated for 2 requests");
  EXPECT_THAT(all[0].causes, ElementsAre("its failurePolicy is Fail, so these requests were refused",
                                         "of 2 evaluations since the API server was started"));
  counted.metrics.calls["v.widgets.example.com"].conditions = 3;
  EXPECT_EQ(check_all(counted)[0].severity, Severity::info);
}

TEST(Metrics, LinesThatAreNotUnderstoodArePassedOver) {
  constexpr std::string_view kName = "apiserver_admission_webhook_fail_open_count";
  std::string text;
  for (std::string_view bad : {"{", "{name", "{name=\"x", "{name=\"x\\", "{name=\"x\"", "{name=\"x\"}", "{name=\"x\"} ",
                               "{name=\"x\"} -1", "{name=\"x\"} NaN", "{name=\"x\"} 1e99", "{name=\"x\"}5"})
    text += fmt::format("{}{}\n", kName, bad);
  text += fmt::format("{}{{name=\"a \\\"b\\\"\"}} 1e+02", kName);
  Metrics metrics = Metrics::parse(text);
  ASSERT_EQ(metrics.calls.size(), 1u);
  EXPECT_EQ(metrics.calls["a \"b\""].skipped, 100u);
}

}  // namespace
}  // namespace fairlead::doctor
