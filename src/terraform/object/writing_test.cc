// How an object is written: when it is sent again, what is left to others, and what becomes of former field managers.
#include "terraform/object/object_testing.h"

namespace fairlead::terraform {
namespace {

using namespace std::chrono_literals;

bool is_write(const http::Request& request) { return request.method == "PATCH" && !request.target.contains("dryRun"); }

class ObjectWritingTest : public ObjectTest {
 protected:
  void answer_writes(int status) {
    transport_.answers = [this, status](const http::Request& request) {
      writes_ += is_write(request) ? 1 : 0;
      return is_write(request) ? status : 0;
    };
  }
  Json deployed() { return get("/apis/apps/v1/namespaces/default/deployments/web"); }

  int writes_ = 0;
};

TEST_F(ObjectWritingTest, WhatIsRefusedForGoodIsSentOnce) {
  answer_writes(403);
  EXPECT_TRUE(apply(with(config_map("{a: \"1\"}"))).has_errors());
  EXPECT_EQ(writes_, 1);
}

TEST_F(ObjectWritingTest, WhatMayPassIsSentUntilTheTimeOfTheResourceIsOver) {
  answer_writes(500);
  Value config = with(config_map("{a: \"1\"}"), {{"timeouts", Value::object({{"create", "20s"}})}});
  TimePoint begun = loop_.now();
  EXPECT_TRUE(apply(config).has_errors());
  EXPECT_GT(writes_, 5);
  EXPECT_GT(loop_.now() - begun, 15s);
  EXPECT_LE(loop_.now() - begun, 21s);
}

TEST_F(ObjectWritingTest, AKindThatNobodyServesIsWaitedForHalfAMinute) {
  TimePoint begun = loop_.now();
  EXPECT_TRUE(apply(with("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\n")).has_errors());
  EXPECT_GE(loop_.now() - begun, 30s);
  EXPECT_LE(loop_.now() - begun, 32s);
}

TEST_F(ObjectWritingTest, ANamespaceThatDoesNotComeIsWaitedForHalfAMinute) {
  TimePoint begun = loop_.now();
  EXPECT_TRUE(apply(with("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n")).has_errors());
  EXPECT_GE(loop_.now() - begun, 25s);
  EXPECT_LE(loop_.now() - begun, 32s);
}

TEST_F(ObjectWritingTest, ARefusalThatQuotesASecretIsToldWithoutIt) {
  answer_writes(403);
  transport_.says = "hunter22222 is too weak, and so is aHVudGVyMjIyMjI=";
  Diagnostics found = apply(with("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: hunter22222}\n"));
  EXPECT_TRUE(found.has_errors());
  EXPECT_FALSE(text_of(found).contains("hunter22222")) << text_of(found);
  EXPECT_FALSE(text_of(found).contains("aHVudGVyMjIyMjI")) << text_of(found);
}

TEST_F(ObjectWritingTest, ARefusedRehearsalThatQuotesASecretIsToldWithoutIt) {
  transport_.answers = [](const http::Request& request) { return request.method == "PATCH" ? 403 : 0; };
  transport_.says = "hunter22222 is too weak";
  TestPlan planned = plan(with("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: hunter22222}\n"));
  EXPECT_TRUE(planned.diagnostics.has_errors());
  EXPECT_FALSE(text_of(planned.diagnostics).contains("hunter22222")) << text_of(planned.diagnostics);
}

TEST_F(ObjectWritingTest, AFormerObjectThatIsStillBeingDeletedIsWaitedFor) {
  request("POST", "/api/v1/namespaces/default/configmaps",
          R"({"metadata":{"name":"settings","finalizers":["example.com/slow"]},"data":{"old":"x"}})");
  request("DELETE", std::string(kSettings), "{}");
  Json former = get(std::string(kSettings));
  ASSERT_TRUE(former["metadata"].contains("deletionTimestamp"));
  request_later(5s, "PUT", std::string(kSettings),
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"}})");
  EXPECT_FALSE(apply(with(config_map("{a: \"1\"}"))).has_errors());
  Json made = get(std::string(kSettings));
  EXPECT_NE(made["metadata"]["uid"], former["metadata"]["uid"]);
  EXPECT_EQ(made["data"].dump(), R"({"a":"1"})");
}

TEST_F(ObjectWritingTest, AFormerObjectThatStaysIsAnErrorAfterTheTimeOfTheResource) {
  request("POST", "/api/v1/namespaces/default/configmaps",
          R"({"metadata":{"name":"settings","finalizers":["example.com/slow"]},"data":{"old":"x"}})");
  request("DELETE", std::string(kSettings), "{}");
  TimePoint begun = loop_.now();
  Diagnostics found = apply(with(config_map("{a: \"1\"}"), {{"timeouts", Value::object({{"create", "20s"}})}}));
  EXPECT_TRUE(text_of(found).contains("The former object is still being deleted")) << text_of(found);
  EXPECT_LE(loop_.now() - begun, 22s);
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"old":"x"})");
  request("PUT", std::string(kSettings), R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"}})");
}

TEST_F(ObjectWritingTest, FieldsThatWereLeftToOthersBeforeStayTheirs) {
  std::string yaml = deployment_of("replicas: 3, minReadySeconds: 5, ");
  EXPECT_EQ(text_of(apply(with(yaml))), "");
  EXPECT_EQ(text_of(apply(with(yaml, {{"ignore_fields", Value::list({"spec.replicas"})}}))), "");
  EXPECT_EQ(text_of(apply(with(yaml, {{"ignore_fields", Value::list({"spec.replicas", "spec.minReadySeconds"})}}))),
            "");
  EXPECT_EQ(deployed()["spec"]["replicas"].int_or(0), 3);
  EXPECT_EQ(deployed()["spec"]["minReadySeconds"].int_or(0), 5);
}

TEST_F(ObjectWritingTest, AnotherFieldManagerTakesOverFromTheFormerOne) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\", old: x}"), {{"field_manager", "one"}}))), "");
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}"), {{"field_manager", "two"}}))), "");
  Json settings = get(std::string(kSettings));
  EXPECT_EQ(settings["data"].dump(), R"({"a":"1"})");
  EXPECT_FALSE(settings["metadata"]["managedFields"].dump().contains(R"("one")"));
  EXPECT_EQ(plan(with(config_map("{a: \"1\"}"), {{"field_manager", "two"}})).action, "none");
}

TEST_F(ObjectWritingTest, AConflictSinceThePlanIsReportedWhereTheUserAskedForThat) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: ours}"), {{"on_conflict", "fail"}}))), "");
  Value config = with(config_map("{a: newer}"), {{"on_conflict", "fail"}});
  TestPlan planned = plan(config);
  EXPECT_EQ(text_of(planned.diagnostics), "");
  merge(std::string(kSettings) + "?fieldManager=editor", R"({"data":{"a":"theirs"}})");
  Context context = this->context();
  ApplyResponse response = loop_.run(resource_->apply(context, {.prior = state_,
                                                                .planned = planned.planned,
                                                                .config = config_of(config),
                                                                .planned_private = planned.planned_private,
                                                                .planned_identity = {}}));
  EXPECT_TRUE(response.diagnostics.has_errors());
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"theirs"})");
}

TEST_F(ObjectWritingTest, WhoeverMayOnlyReadGetsAPlanThatIsNotExact) {
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(apply(config)), "");
  transport_.answers = [](const http::Request& request) { return request.method == "PATCH" ? 403 : 0; };
  transport_.says = R"(configmaps \"settings\" is forbidden: User \"ann\" cannot patch resource \"configmaps\" in )"
                    R"(API group \"\" in the namespace \"default\")";
  EXPECT_EQ(plan(config).action, "none");
  TestPlan changed = plan(with(config_map("{a: \"2\"}")));
  EXPECT_TRUE(text_of(changed.diagnostics).starts_with("warning: The plan is not exact (ConfigMap default/settings)"))
      << text_of(changed.diagnostics);
  EXPECT_EQ(changed.action, "update");
  EXPECT_TRUE(changed.planned["managed_state_projection"].is_unknown());
}

TEST_F(ObjectWritingTest, AWarningThatThePlanCouldNotShowIsShownByTheApply) {
  Value config = with(config_map("{a: \"1\"}"));
  transport_.warns = "this is deprecated";
  auto applied = [&](const TestPlan& planned) {
    Context context = this->context();
    ApplyResponse response = loop_.run(resource_->apply(context, {.prior = {},
                                                                  .planned = planned.planned,
                                                                  .config = config_of(config),
                                                                  .planned_private = planned.planned_private,
                                                                  .planned_identity = {}}));
    return text_of(response.diagnostics);
  };
  TestPlan planned = plan(config);
  EXPECT_TRUE(text_of(planned.diagnostics).contains("this is deprecated")) << text_of(planned.diagnostics);
  EXPECT_EQ(applied(planned), "");
  request("DELETE", std::string(kSettings), "{}");
  transport_.answers = [](const http::Request& request) { return request.target.contains("dryRun") ? 500 : 0; };
  planned = plan(config);
  EXPECT_FALSE(text_of(planned.diagnostics).contains("this is deprecated")) << text_of(planned.diagnostics);
  EXPECT_TRUE(applied(planned).contains("this is deprecated"));
}

TEST_F(ObjectWritingTest, AnImportKeepsTheIdOfTheResourceThatMadeTheObject) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  Context context = this->context();
  ImportResponse imported =
      loop_.run(resource_->import(context, {.id = "test:default:v1/ConfigMap:settings", .identity = {}}));
  EXPECT_EQ(imported.state["id"].string_or("none"), state_["id"].string_or(""));
}

}  // namespace
}  // namespace fairlead::terraform
