#include "terraform/wait/wait.h"

#include "terraform/objects/resource_testing.h"

namespace fairlead::terraform {
namespace {

constexpr std::string_view kClaim = "/api/v1/namespaces/default/configmaps/claim";

class WaitResourceTest : public ResourceTest {
 protected:
  WaitResourceTest() : ResourceTest(make_wait_resource()) {}

  static Value waiting(Value::Members wait_for, Value::Members more = {}) {
    Value config = Value::object(std::move(more));
    config.make("wait_for") = Value::object(std::move(wait_for));
    if (!config.contains("object_ref")) config.make("object_ref") = reference("v1", "ConfigMap", "claim");
    return config;
  }
  static Value reference(const char* api_version, const char* kind, const char* name) {
    return Value::object({{"api_version", api_version}, {"kind", kind}, {"namespace", "default"}, {"name", name}});
  }
  void claim_with(std::string_view data, Duration delay = Duration::zero()) {
    std::string body =
        fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"claim"}},"data":{}}})", data);
    if (delay == Duration::zero()) request("POST", "/api/v1/namespaces/default/configmaps", body);
    else request_later(delay, "POST", "/api/v1/namespaces/default/configmaps", body);
  }
  std::string result() { return state_["result"].to_json()->dump(); }
};

TEST_F(WaitResourceTest, WaitsForAFieldAndHasNothingButItAsItsResult) {
  claim_with(R"({"phase":"Bound","other":"x"})", std::chrono::seconds(20));
  Value config = waiting({{"field", "data.phase"}});
  TestPlan planned = plan(config);
  EXPECT_EQ(planned.action, "create");
  EXPECT_TRUE(planned.planned["result"].is_unknown());
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(result(), R"({"data":{"phase":"Bound"}})");
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(WaitResourceTest, ATimeOutIsAnErrorThatLeavesNothingToDestroyAndTheNextApplyWaitsAgain) {
  claim_with(R"({"phase":"Pending"})");
  Value config = waiting({{"field_value", Value::object({{"data.phase", "Bound"}})}}, {{"timeout", "30s"}});
  std::string text = text_of(apply(config));
  EXPECT_TRUE(text.starts_with("error: The wait timed out (ConfigMap default/claim) [wait_for]\n")) << text;
  EXPECT_TRUE(text.contains("data.phase is Pending, not Bound")) << text;
  EXPECT_TRUE(state_.is_null());
  merge(std::string(kClaim), R"({"data":{"phase":"Bound"}})");
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(result(), R"({"data":{"phase":"Bound"}})");
}

TEST_F(WaitResourceTest, AllConditionsTogetherHaveOneTimeout) {
  claim_with(R"({"phase":"Bound"})");
  request_later(std::chrono::seconds(20), "PUT", std::string(kClaim),
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"claim"},"data":{"zone":"a"}})");
  TimePoint begun = loop_.now();
  std::string text = text_of(apply(
      waiting({{"field", "data.zone"}, {"regex", Value::object({{"data.phase", "Lost"}})}}, {{"timeout", "30s"}})));
  EXPECT_TRUE(text.starts_with("error: The wait timed out (ConfigMap default/claim) [wait_for]\n")) << text;
  EXPECT_LT(loop_.now() - begun, std::chrono::seconds(32));
}

TEST_F(WaitResourceTest, ChangedTriggersMakeItWaitAgainAndNeverReplaceIt) {
  claim_with(R"({"phase":"one"})");
  Value config = waiting({{"regex", Value::object({{"data.phase", "one|two"}})}},
                         {{"triggers", Value::object({{"revision", "1"}})}});
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(result(), R"({"data":{"phase":"one"}})");
  merge(std::string(kClaim), R"({"data":{"phase":"two"}})");
  EXPECT_EQ(plan(config).action, "none");
  config.make("triggers") = Value::object({{"revision", "2"}});
  TestPlan again = plan(config);
  EXPECT_EQ(again.action, "update");
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(result(), R"({"data":{"phase":"two"}})");
}

TEST_F(WaitResourceTest, AFailedSecondWaitKeepsTheStateAndIsPlannedAgain) {
  claim_with(R"({"phase":"one"})");
  Value config = waiting({{"field_value", Value::object({{"data.phase", "one"}})}}, {{"timeout", "30s"}});
  EXPECT_EQ(text_of(apply(config)), "");
  config.make("triggers") = Value::object({{"revision", "2"}});
  merge(std::string(kClaim), R"({"data":{"phase":"two"}})");
  EXPECT_TRUE(apply(config).has_errors());
  EXPECT_TRUE(state_["triggers"].is_null());
  EXPECT_EQ(plan(config).action, "update");
}

TEST_F(WaitResourceTest, AnotherConnectionAloneDoesNotWait) {
  claim_with(R"({"phase":"one"})");
  Value config = waiting({{"field", "data.phase"}}, {{"cluster", Value::object({{"token", "a"}})}});
  EXPECT_EQ(text_of(apply(config)), "");
  config.make("cluster") = Value::object({{"token", "b"}});
  TestPlan planned = plan(config);
  EXPECT_EQ(planned.action, "update");
  EXPECT_FALSE(planned.planned["result"].is_unknown());
  transport_.sent.clear();
  EXPECT_EQ(text_of(apply_plan(planned, config)), "");
  EXPECT_EQ(transport_.sent, std::vector<std::string>());
}

TEST_F(WaitResourceTest, WaitsForARolloutAndForConditions) {
  request("POST", "/apis/apps/v1/namespaces/default/deployments",
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"selector":{"matchLabels":
             {"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web",
             "image":"web:1"}]}}}})");
  Value::Members web{{"object_ref", reference("apps/v1", "Deployment", "web")}};
  EXPECT_EQ(text_of(apply(waiting({{"rollout", true}}, web))), "");
  EXPECT_TRUE(state_["result"].is_null());
  EXPECT_EQ(text_of(apply(waiting({{"condition", "Available"}}, web))), "");
  EXPECT_EQ(text_of(apply(waiting({{"jsonpath", "{.status.readyReplicas}=1"}, {"ready", true}}, web))), "");
}

TEST_F(WaitResourceTest, DestroyAsksNothing) {
  claim_with(R"({"phase":"one"})");
  EXPECT_EQ(text_of(apply(waiting({{"field", "data.phase"}}))), "");
  transport_.fails = [](const http::Request&) { return true; };
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_TRUE(state_.is_null());
}

TEST_F(WaitResourceTest, AConfigurationThatCannotWorkIsRefused) {
  EXPECT_TRUE(text_of(validate(waiting({}))).contains("There is nothing to wait for"));
  EXPECT_EQ(text_of(validate(waiting({{"regex", Value::object({{"a", "("}})}}))),
            "error: wait_for.regex[\"a\"] cannot be used [wait_for.regex[\"a\"]]\n"
            "  because   missing ): (\n"
            "  next      regex = { \"status.phase\" = \"Bound|Available\" }\n");
  EXPECT_EQ(text_of(validate(waiting({{"condition", ""}}))),
            "error: wait_for.condition cannot be used [wait_for.condition]\n"
            "  because   the condition has no name\n"
            "  next      condition = \"Ready\", or \"Ready=False\"\n");
  EXPECT_EQ(text_of(validate(waiting({{"field", ""}}))),
            "error: wait_for.field cannot be used [wait_for.field]\n"
            "  because   it has no path of a field\n"
            "  next      write the path like status.phase or status.conditions[0].type\n");
  Value nothing = waiting({{"rollout", true}});
  nothing.make("object_ref").make("name") = "";
  EXPECT_EQ(text_of(validate(nothing)),
            "error: object_ref names no object [object_ref]\n"
            "It needs api_version (such as apps/v1), kind and name.\n");
  EXPECT_TRUE(text_of(validate(waiting({{"field", "a"}}, {{"timeout", "soon"}}))).contains("[timeout]"));
  EXPECT_EQ(text_of(validate(waiting({{"field", "status.conditions[?(@.type=='Ready')].status"}}))), "");
}

}  // namespace
}  // namespace fairlead::terraform
