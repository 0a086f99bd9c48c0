// Troubles of admission policies and of Helm releases, and what the API server counts.
#include "doctor/doctor_testing.h"
#include "doctor/internal/parameters.h"
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
}

constexpr std::string_view kMetrics = R"(# HELP apiserver_admission_webhook_rejection_count help
apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="v.widgets.example.com",operation="CREATE",rejection_code="0",type="validating"} 3
apiserver_admission_webhook_rejection_count{error_type="no_error",name="v.widgets.example.com",operation="CREATE",rejection_code="403",type="validating"} 9
apiserver_admission_webhook_fail_open_count{name="v.widgets.example.com",type="validating"} 2
apiserver_admission_webhook_fail_open_count{name="x",type="validating"} 0
apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.k8s.io",removed_release="1.32",resource="flowschemas",subresource="",version="v1beta3"} 1
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
  EXPECT_EQ(
      all[1].what,
      "webhook v.widgets.example.com (ValidatingWebhookConfiguration widgets) made 3 requests fail, because it did "
      "not answer");
  EXPECT_EQ(all[2].code, "webhook-failed-open");
  EXPECT_EQ(
      all[2].what,
      "webhook v.widgets.example.com (ValidatingWebhookConfiguration widgets) was skipped for 2 requests, because it "
      "did not answer");
  EXPECT_EQ(all[2].severity, Severity::info);
}

TEST(Metrics, LinesThatAreNotUnderstoodArePassedOver) {
  constexpr std::string_view kName = "apiserver_admission_webhook_fail_open_count";
  std::string text;
  for (std::string_view bad : {"{", "{name", "{name=\"x", "{name=\"x\\", "{name=\"x\"", "{name=\"x\"}", "{name=\"x\"} ",
                               "{name=\"x\"} -1", "{name=\"x\"} NaN", "{name=\"x\"} 1e99", "{name=\"x\"}5"})
    text += fmt::format("{}{}\n", kName, bad);
  text += fmt::format("{}{{name=\"a \\\"b\\\"\"}} 1e+02", kName);
  EXPECT_THAT(Metrics::parse(text).failed_open, ElementsAre(Pair("a \"b\"", 100u)));
}

}  // namespace
}  // namespace fairlead::doctor
