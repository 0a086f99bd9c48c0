#include "sandbox/sandbox_testing.h"

namespace fairlead::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";
constexpr std::string_view kHooks = "/apis/admissionregistration.k8s.io/v1/";

std::string message(const Got& got) { return std::string(got.body["message"].string_or(got.text)); }

http::Response review(const http::Request& request, Json response) {
  Json asked = *Json::parse(request.body);
  response.make("uid") = asked["request"]["uid"];
  Json answer = Json::Object{{"apiVersion", asked["apiVersion"]}, {"kind", "AdmissionReview"}, {"response", response}};
  return {200, {{"Content-Type", "application/json"}}, answer.dump(), 0};
}

class WebhookTest : public SandboxTest {
 protected:
  // A Service with one ready endpoint.
  void serve(std::string name, LocalWebhooks::Handler handler, std::string ca = {}) {
    post(
        "/api/v1/namespaces/default/services",
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"clusterIP":"10.96.0.77","ports":[{{"port":443,"targetPort":8443}}]}}}})",
            name));
    post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
         fmt::format(
             R"({{"metadata":{{"name":"{0}-1","labels":{{"kubernetes.io/service-name":"{0}"}}}},"addressType":"IPv4",
                         "endpoints":[{{"addresses":["10.244.0.9"],"conditions":{{"ready":true}}}}],
                         "ports":[{{"name":"","port":8443,"protocol":"TCP"}}]}})",
             name));
    sandbox_.webhooks().serve("default/" + name, std::move(handler), std::move(ca));
  }
  void register_hook(std::string_view resource, std::string_view service, std::string_view more = "") {
    std::string_view kind =
        resource.starts_with("mutating") ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
    Got made =
        post(std::string(kHooks) + std::string(resource),
             fmt::format(R"({{"apiVersion":"admissionregistration.k8s.io/v1","kind":"{}","metadata":{{"name":"{}"}},
           "webhooks":[{{"name":"{}.example.com","sideEffects":"None","admissionReviewVersions":["v1"]{},
           "clientConfig":{{"service":{{"namespace":"default","name":"{}","path":"/validate"}}}},
           "rules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":["configmaps"]}}]}}]}})",
                         kind, service, service, more, service));
    EXPECT_EQ(made.status, 201) << made.text;
    pass(100ms);
  }
  Got make_map(std::string_view name) {
    return apply(
        fmt::format("{}/{}", kMaps, name),
        fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{{"a":"b"}}}})", name));
  }
};

LocalWebhooks::Handler answering(Json response) {
  return [response](http::Request request) -> Task<Result<http::Response>> { co_return review(request, response); };
}

TEST_F(WebhookTest, ADenialIsToldInItsWords) {
  serve(
      "deny",
      answering(*Json::parse(R"({"allowed":false,"status":{"code":403,"reason":"Forbidden","message":"not today"}})")));
  register_hook("validatingwebhookconfigurations", "deny");
  Got refused = make_map("x");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(message(refused), "admission webhook \"deny.example.com\" denied the request: not today");
}

TEST_F(WebhookTest, WhatSomebodyElseMadeMeanwhileIsApplied) {
  bool asked = false;
  serve("slow", [this, &asked](http::Request request) -> Task<Result<http::Response>> {
    if (!std::exchange(asked, true))
      (void)co_await http::send(sandbox_.api_server(), {.method = "POST",
                                                        .target = std::string(kMaps),
                                                        .headers = {{"Content-Type", "application/json"}},
                                                        .body = R"({"metadata":{"name":"x"},"data":{"b":"c"}})"});
    co_return review(request, *Json::parse(R"({"allowed":true})"));
  });
  register_hook("validatingwebhookconfigurations", "slow");
  Got applied = make_map("x");
  EXPECT_EQ(applied.status, 200) << applied.text;
  EXPECT_TRUE(applied.body["data"].same_as(Json::Object{{"a", "b"}, {"b", "c"}})) << applied.text;
}

TEST_F(WebhookTest, AMutationIsStored) {
  // [{"op":"add","path":"/data/added","value":"yes"}]
  serve(
      "mutate",
      answering(*Json::parse(
          R"({"allowed":true,"patchType":"JSONPatch","warnings":["changed"],"patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL2RhdGEvYWRkZWQiLCJ2YWx1ZSI6InllcyJ9XQ=="})")));
  register_hook("mutatingwebhookconfigurations", "mutate");
  Got made = make_map("x");
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body["data"]["added"], Json("yes"));
  EXPECT_EQ(made.warnings, (std::vector<std::string>{"299 - \"changed\""}));
}

TEST_F(WebhookTest, WhatCannotBeReachedFailsTheRequestUnlessIgnored) {
  register_hook("validatingwebhookconfigurations", "missing");
  constexpr std::string_view kPost =
      "Internal error occurred: failed calling webhook \"missing.example.com\": failed to call webhook: "
      "Post \"https://missing.default.svc:443/validate?timeout=10s\": ";
  EXPECT_EQ(message(make_map("x")), std::string(kPost) + "service \"missing\" not found");
  post(
      "/api/v1/namespaces/default/services",
      R"({"metadata":{"name":"missing"},"spec":{"clusterIP":"10.96.0.78","selector":{"a":"b"},"ports":[{"port":443}]}})");
  EXPECT_EQ(message(make_map("x")), std::string(kPost) + "dial tcp 10.96.0.78:443: connect: connection refused");
  Got ignored = merge(
      std::string(kHooks) + "validatingwebhookconfigurations/missing",
      R"({"webhooks":[{"name":"missing.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"failurePolicy":"Ignore",
                          "clientConfig":{"service":{"namespace":"default","name":"missing"}},
                          "rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}]})");
  EXPECT_EQ(ignored.status, 200) << ignored.text;
  pass(100ms);
  EXPECT_EQ(make_map("x").status, 201);
}

TEST_F(WebhookTest, AnAuthorityThatIsNotTrustedIsTold) {
  serve("strange", answering(*Json::parse(R"({"allowed":true})")), "the authority");
  register_hook("validatingwebhookconfigurations", "strange");
  EXPECT_EQ(
      message(make_map("x")),
      "Internal error occurred: failed calling webhook \"strange.example.com\": failed to call webhook: Post "
      "\"https://strange.default.svc:443/validate?timeout=10s\": tls: failed to verify certificate: x509: certificate "
      "signed by unknown authority");
}

TEST_F(WebhookTest, ASlowOneRunsIntoItsTimeout) {
  serve("slow", [this](http::Request request) -> Task<Result<http::Response>> {
    CO_TRY(co_await sleep_for(loop_, 8s));
    co_return review(request, Json::Object{{"allowed", true}});
  });
  register_hook("validatingwebhookconfigurations", "slow", R"(,"timeoutSeconds":1)");
  EXPECT_EQ(message(make_map("x")),
            "Internal error occurred: failed calling webhook \"slow.example.com\": failed to call webhook: Post "
            "\"https://slow.default.svc:443/validate?timeout=1s\": context deadline exceeded");
}

TEST_F(WebhookTest, AConfigurationTakesEffectAfterItsDelay) {
  sandbox_.core().options.delays.validating_webhooks = 5s;
  post(
      std::string(kHooks) + "validatingwebhookconfigurations",
      R"({"metadata":{"name":"late"},"webhooks":[{"name":"late.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
           "clientConfig":{"service":{"namespace":"default","name":"none"}},
           "rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}]})");
  EXPECT_EQ(make_map("early").status, 201);
  pass(6s);
  EXPECT_EQ(make_map("late").status, 500);
}

TEST_F(WebhookTest, APolicyDenies) {
  post(std::string(kHooks) + "validatingadmissionpolicies",
       R"json({"metadata":{"name":"no-deny"},"spec":{"failurePolicy":"Fail","matchConstraints":{"resourceRules":[
           {"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":["configmaps"]}]},
           "validations":[{"expression":"!has(object.data.deny)","message":"data.deny is not allowed"}]}})json");
  post(std::string(kHooks) + "validatingadmissionpolicybindings",
       R"({"metadata":{"name":"no-deny"},"spec":{"policyName":"no-deny","validationActions":["Deny"]}})");
  pass(1s);
  Got refused = apply(std::string(kMaps) + "/vap",
                      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"vap"},"data":{"deny":"x"}})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(message(refused),
            "configmaps \"vap\" is forbidden: ValidatingAdmissionPolicy 'no-deny' with binding 'no-deny' denied "
            "request: data.deny is not allowed");
}

TEST_F(WebhookTest, TheServerCountsWhatBecomesOfItsCalls) {
  // The controllers have made their own ConfigMaps by then.
  pass(1min);
  EXPECT_EQ(get("/metrics").text, "");
  serve("fine", answering(*Json::parse(R"({"allowed":true})")));
  register_hook("mutatingwebhookconfigurations", "fine",
                R"(,"matchConditions":[{"name":"x","expression":"object.metadata.name != 'other'"}])");
  register_hook("validatingwebhookconfigurations", "gone", R"(,"failurePolicy":"Ignore")");
  EXPECT_EQ(make_map("x").status, 201);
  EXPECT_EQ(make_map("other").status, 201);
  EXPECT_EQ(get("/metrics").text, R"(# TYPE apiserver_admission_match_condition_evaluation_seconds histogram
apiserver_admission_match_condition_evaluation_seconds_bucket{kind="webhook",name="fine.example.com",operation="CREATE",type="admit",le="+Inf"} 2
apiserver_admission_match_condition_evaluation_seconds_sum{kind="webhook",name="fine.example.com",operation="CREATE",type="admit"} 0
apiserver_admission_match_condition_evaluation_seconds_count{kind="webhook",name="fine.example.com",operation="CREATE",type="admit"} 2
# TYPE apiserver_admission_webhook_fail_open_count counter
apiserver_admission_webhook_fail_open_count{name="gone.example.com",type="validating"} 2
# TYPE apiserver_admission_webhook_request_total counter
apiserver_admission_webhook_request_total{code="200",name="fine.example.com",operation="CREATE",rejected="false",type="admit"} 1
apiserver_admission_webhook_request_total{code="503",name="gone.example.com",operation="CREATE",rejected="false",type="validating"} 2
)");
  // Another server counts for itself, and so does this one once it was started again.
  sandbox_.set_down(0, true);
  sandbox_.set_down(0, false);
  EXPECT_EQ(get("/metrics").text, "");
}

TEST_F(WebhookTest, TheServerCountsWhatItRefuses) {
  pass(1min);
  serve("deny", answering(*Json::parse(R"({"allowed":false,"status":{"code":403}})")));
  register_hook("validatingwebhookconfigurations", "deny");
  EXPECT_EQ(make_map("x").status, 403);
  register_hook("mutatingwebhookconfigurations", "gone");
  EXPECT_EQ(make_map("x").status, 500);
  EXPECT_EQ(get("/metrics").text, R"(# TYPE apiserver_admission_webhook_rejection_count counter
apiserver_admission_webhook_rejection_count{error_type="calling_webhook_error",name="gone.example.com",operation="CREATE",rejection_code="503",type="admit"} 1
apiserver_admission_webhook_rejection_count{error_type="no_error",name="deny.example.com",operation="CREATE",rejection_code="403",type="validating"} 1
# TYPE apiserver_admission_webhook_request_total counter
apiserver_admission_webhook_request_total{code="403",name="deny.example.com",operation="CREATE",rejected="true",type="validating"} 1
apiserver_admission_webhook_request_total{code="503",name="gone.example.com",operation="CREATE",rejected="true",type="admit"} 1
)");
}

}  // namespace
}  // namespace fairlead::sandbox
