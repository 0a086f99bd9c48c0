#include "terraform/object/object_testing.h"

namespace fairlead::terraform {
namespace {

TEST_F(ObjectTest, AnotherNameReplacesTheObject) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  TestPlan renamed = plan(with(config_map("{a: \"1\"}", "other")));
  EXPECT_EQ(renamed.action, "replace");
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}", "other")))), "");
  EXPECT_TRUE(get(std::string(kSettings)).is_null());
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/other")["data"].dump(), R"({"a":"1"})");
}

TEST_F(ObjectTest, WhatTheServerCallsImmutableReplacesTheObject) {
  EXPECT_EQ(text_of(apply(with(deployment_of("")))), "");
  std::string other = deployment_of("");
  for (size_t at; (at = other.find("app: web")) != std::string::npos;) other.replace(at, 8, "app: new");
  TestPlan changed = plan(with(other));
  EXPECT_EQ(changed.action, "replace") << text_of(changed.diagnostics);
  EXPECT_EQ(changed.replaces, std::vector<std::string>({"yaml_body", "managed_state_projection"}));
  EXPECT_FALSE(apply(with(other)).has_errors());
  EXPECT_EQ(get("/apis/apps/v1/namespaces/default/deployments/web")["spec"]["selector"].dump(),
            R"({"matchLabels":{"app":"new"}})");
}

TEST_F(ObjectTest, ProtectionFailsThePlanOfADestroyAndOfAReplacement) {
  Value::Members protection{{"delete_protection", true}};
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}"), protection))), "");
  EXPECT_EQ(text_of(plan({}).diagnostics),
            "error: The object is protected and cannot be destroyed (ConfigMap default/settings) [delete_protection]\n"
            "  because   delete_protection = true\n"
            "  next      set delete_protection = false and apply; then plan again\n");
  EXPECT_EQ(text_of(plan(with(config_map("{}", "other"), protection)).diagnostics),
            "error: The object is protected and cannot be replaced (ConfigMap default/settings) [delete_protection]\n"
            "  because   delete_protection = true\n"
            "  next      set delete_protection = false and apply; then plan again\n");
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  EXPECT_EQ(text_of(destroy()), "");
}

TEST_F(ObjectTest, ProtectionFailsThePlanOfAReplacementThatTheUserAsksFor) {
  Value config = with(config_map("{a: \"1\"}"), {{"delete_protection", true}});
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(text_of(refresh()), "");
  EXPECT_EQ(plan_only(config).action, "none");
  constexpr std::string_view kRefused =
      "error: The object is protected and cannot be replaced (ConfigMap default/settings) [delete_protection]\n"
      "  because   delete_protection = true\n"
      "  next      set delete_protection = false and apply; then plan again\n";
  EXPECT_EQ(text_of(plan_replacement(config).diagnostics), kRefused);
  config.make("delete_protection") = false;
  EXPECT_EQ(text_of(plan_replacement(config).diagnostics), kRefused);
  config.make("yaml_body") = Value::unknown();
  EXPECT_EQ(text_of(plan_replacement(config).diagnostics), kRefused);
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"1"})");
}

TEST_F(ObjectTest, ProtectionFailsThePlanOfAReplacementWithoutTheCluster) {
  Value config = with(config_map("{a: \"1\"}"), {{"delete_protection", true}});
  EXPECT_EQ(text_of(apply(config)), "");
  transport_.fails = [](const http::Request&) { return true; };
  begin_process(make_object_resource());
  EXPECT_TRUE(text_of(plan_replacement(config).diagnostics)
                  .contains("The object is protected and cannot be replaced (ConfigMap default/settings)"));
  EXPECT_TRUE(text_of(plan_tainted(config).diagnostics)
                  .contains("The object is protected and cannot be replaced (ConfigMap default/settings)"));
}

TEST_F(ObjectTest, ProtectionFailsThePlanOfATaintedObject) {
  Value config = with(config_map("{a: \"1\"}"), {{"delete_protection", true}});
  EXPECT_EQ(text_of(apply(config)), "");
  begin_process(make_object_resource());
  constexpr std::string_view kRefused =
      "error: The object is protected and cannot be replaced (ConfigMap default/settings) [delete_protection]\n"
      "  because   the state has it with delete_protection = true, and the plan would create it again\n"
      "  next      if it is tainted: terraform untaint ADDRESS; if another resource has it: remove one of the two\n";
  EXPECT_EQ(text_of(plan_tainted(config).diagnostics), kRefused);
  config.make("adopt") = true;
  EXPECT_EQ(text_of(plan_tainted(config).diagnostics), kRefused);
  // The state counts, which the deletion will see.
  config.make("delete_protection") = false;
  EXPECT_EQ(text_of(plan_tainted(config).diagnostics), kRefused);
  // Of an object that is not known before apply, no plan can tell. Nothing is deleted all the same.
  config.make("yaml_body") = Value::unknown();
  TestPlan planned = plan_tainted(config);
  EXPECT_EQ(text_of(planned.diagnostics), "");
  EXPECT_EQ(text_of(apply_plan(planned, config)),
            "error: The object is protected and cannot be destroyed (ConfigMap default/settings) [delete_protection]\n"
            "  because   delete_protection = true\n"
            "  next      terraform untaint ADDRESS; to replace it all the same, set delete_protection = false, apply, "
            "and taint it again\n");
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"1"})");
}

TEST_F(ObjectTest, ProtectionIsThatOfOneObjectInOneCluster) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}"), {{"delete_protection", true}}))), "");
  begin_process(make_object_resource());
  state_ = {};
  private_ = {};
  EXPECT_EQ(plan(with(config_map("{a: \"1\"}", "other"), {{"delete_protection", true}})).action, "create");
  Value elsewhere = with(config_map("{a: \"1\"}"), {{"cluster", Value::object({{"host", "https://broken"}})}});
  EXPECT_FALSE(text_of(plan(elsewhere).diagnostics).contains("protected"));
}

TEST_F(ObjectTest, ATaintedObjectIsReplaced) {
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(apply(config)), "");
  Json before = get(std::string(kSettings));
  EXPECT_EQ(text_of(refresh()), "");
  TestPlan planned = plan_tainted(config);
  EXPECT_EQ(text_of(planned.diagnostics), "");
  EXPECT_EQ(text_of(apply_plan(planned, config)), "");
  EXPECT_NE(get(std::string(kSettings))["metadata"]["uid"], before["metadata"]["uid"]);
}

TEST_F(ObjectTest, AnObjectThatWouldBeDeletedOnlyAfterItsSuccessorIsCreatedCanBeAdopted) {
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(apply(config)), "");
  Value former = state_;
  Json former_private = private_;
  Json before = get(std::string(kSettings));
  // The apply with create_before_destroy. The process does not know the former object yet.
  auto succeed = [&] {
    begin_process(make_object_resource());
    state_ = {};
    private_ = {};
    return apply(config);
  };
  EXPECT_TRUE(text_of(succeed()).contains("or the one that create_before_destroy would delete only afterwards"));
  config.make("adopt") = true;
  EXPECT_EQ(text_of(succeed()), "");
  state_ = former;
  private_ = former_private;
  EXPECT_TRUE(text_of(destroy()).starts_with("warning: The object stays in the cluster (ConfigMap default/settings)"));
  EXPECT_EQ(get(std::string(kSettings))["metadata"]["uid"], before["metadata"]["uid"]);
}

TEST_F(ObjectTest, TwoResourcesOfOneRunDoNotGetTheSameObject) {
  Value first = with(config_map("{a: \"1\"}")), second = with(config_map("{b: \"1\"}"));
  // Both are planned before one of them is applied.
  TestPlan plans[] = {plan(first), plan(second)};
  Context context = this->context();
  auto send = [&](const TestPlan& planned, const Value& config) {
    return loop_.run(resource_->apply(context, {.prior = {},
                                                .planned = planned.planned,
                                                .config = config_of(config),
                                                .planned_private = planned.planned_private,
                                                .planned_identity = {}}));
  };
  EXPECT_EQ(text_of(send(plans[0], first).diagnostics), "");
  ApplyResponse refused = send(plans[1], second);
  EXPECT_EQ(text_of(refused.diagnostics),
            "error: Two resources have the same object (ConfigMap default/settings) [yaml_body]\n"
            "  because   another fairlead_object of this run has created it\n"
            "  next      remove one of the two, or give one of the objects another name\n");
  EXPECT_TRUE(refused.state.is_null());
  EXPECT_EQ(get(std::string(kSettings))["data"].dump(), R"({"a":"1"})");
}

TEST_F(ObjectTest, ACreateThatFailedCanBeTriedAgainInTheSameRun) {
  Value config = with(config_map("{a: \"1\"}"));
  transport_.answers = [](const http::Request& request) {
    return request.method == "PATCH" && !request.target.contains("dryRun") ? 403 : 0;
  };
  EXPECT_TRUE(apply(config).has_errors());
  transport_.answers = {};
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_EQ(text_of(apply(config)), "");
}

TEST_F(ObjectTest, ATaintedObjectIsReplacedWithoutARefresh) {
  Value config = with(config_map("{a: \"1\"}"));
  EXPECT_EQ(text_of(apply(config)), "");
  begin_process(make_object_resource());
  TestPlan planned = plan_tainted(config);
  EXPECT_EQ(text_of(planned.diagnostics), "");
  EXPECT_EQ(text_of(apply_plan(planned, config)), "");
}

}  // namespace
}  // namespace fairlead::terraform
