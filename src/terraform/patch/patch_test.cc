#include "terraform/patch/patch.h"

#include "terraform/objects/resource_testing.h"

namespace fairlead::terraform {
namespace {

constexpr std::string_view kWeb = "/apis/apps/v1/namespaces/default/deployments/web";

class PatchTest : public ResourceTest {
 protected:
  PatchTest() : ResourceTest(make_patch_resource()) {
    request("PATCH", std::string(kWeb) + "?fieldManager=helm-like",
            R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"app":"web"}},"spec":{
               "replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
               "spec":{"containers":[{"name":"web","image":"web:1"}]}}}})",
            "application/apply-patch+yaml");
  }

  static Value with(const char* attribute, std::string_view patch) {
    return Value::object(
        {{"target",
          Value::object(
              {{"api_version", "apps/v1"}, {"kind", "Deployment"}, {"namespace", "default"}, {"name", "web"}})},
         {attribute, patch}});
  }
  int64_t replicas() { return get(std::string(kWeb))["spec"]["replicas"].int_or(0); }
  std::string owner_of_replicas() {
    std::string owners;
    Json live = get(std::string(kWeb));
    for (const Json& entry : live["metadata"]["managedFields"].items())
      if (entry["fieldsV1"]["f:spec"].contains("f:replicas"))
        owners += std::string(entry["manager"].string_or("")) + " ";
    return owners;
  }
};

TEST_F(PatchTest, SetsFieldsAndGivesThemBackWhenItIsDestroyed) {
  Value config = with("patch", "spec: {replicas: 5}");
  TestPlan planned = plan(config);
  EXPECT_EQ(text_of(planned.diagnostics), "");
  EXPECT_EQ(planned.planned["managed_state_projection"]["spec.replicas"].string_or(""), "5");
  EXPECT_EQ(replicas(), 2);
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(replicas(), 5);
  EXPECT_TRUE(owner_of_replicas().starts_with("fairlead-terraform-patch-"));
  EXPECT_EQ(plan(config).action, "none");
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_EQ(replicas(), 5);
  EXPECT_EQ(owner_of_replicas(), "helm-like ");
}

TEST_F(PatchTest, AFieldThatWasPatchedTwiceGoesBackToItsOwner) {
  EXPECT_EQ(text_of(apply(with("patch", "spec: {replicas: 5}"))), "");
  EXPECT_EQ(text_of(apply(with("patch", "spec: {replicas: 6}"))), "");
  EXPECT_EQ(replicas(), 6);
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_EQ(replicas(), 6);
  EXPECT_EQ(owner_of_replicas(), "helm-like ");
}

TEST_F(PatchTest, PlanAndRefreshNeverWrite) {
  Value config = with("patch", "spec: {replicas: 5}");
  EXPECT_EQ(text_of(apply(config)), "");
  std::vector<std::string> writes;
  transport_.before = [&](const http::Request& request) {
    if (request.method != "GET" && !request.target.contains("dryRun=All")) writes.push_back(request.target);
  };
  merge(std::string(kWeb), R"({"spec":{"replicas":7}})");
  TestPlan drift = plan(config);
  EXPECT_EQ(drift.action, "update");
  EXPECT_EQ(state_["managed_state_projection"]["spec.replicas"].string_or(""), "7");
  EXPECT_EQ(drift.planned["managed_state_projection"]["spec.replicas"].string_or(""), "5");
  (void)plan(with("patch", "spec: {replicas: 6}"));
  EXPECT_EQ(writes, std::vector<std::string>());
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(replicas(), 5);
}

TEST_F(PatchTest, AFieldThatLeavesThePatchKeepsItsValueAndGoesBackToItsOwner) {
  EXPECT_EQ(text_of(apply(with("patch", "spec: {replicas: 5, paused: true}"))), "");
  EXPECT_EQ(text_of(apply(with("patch", "spec: {paused: true}"))), "");
  EXPECT_EQ(replicas(), 5);
  EXPECT_EQ(owner_of_replicas(), "helm-like ");
  EXPECT_EQ(plan(with("patch", "spec: {paused: true}")).action, "none");
}

TEST_F(PatchTest, MergePatchesSetAndRemoveFields) {
  Value config = with("merge_patch", R"({"metadata":{"labels":{"app":null,"x/y":"z"}},"spec":{"replicas":3}})");
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(get(std::string(kWeb))["metadata"]["labels"].dump(), R"({"x/y":"z"})");
  EXPECT_EQ(state_["managed_state_projection"]["metadata.labels.app"].string_or(""), "(absent)");
  EXPECT_EQ(plan(config).action, "none");
  merge(std::string(kWeb), R"({"metadata":{"labels":{"app":"back"}}})");
  EXPECT_EQ(plan(config).action, "update");
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(get(std::string(kWeb))["metadata"]["labels"].dump(), R"({"x/y":"z"})");
}

TEST_F(PatchTest, JsonPatchesAreAppliedOnce) {
  Value config = with("json_patch", R"([{"op":"add","path":"/metadata/annotations","value":{"a/b":"1"}},
      {"op":"add","path":"/spec/template/spec/containers/0/args","value":["x"]},
      {"op":"add","path":"/spec/template/spec/containers/0/args/-","value":"y"}])");
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(plan(config).action, "none");
  Json web = get(std::string(kWeb));
  EXPECT_EQ(web["spec"]["template"]["spec"]["containers"].item(0)["args"].dump(), R"(["x","y"])");
}

TEST_F(PatchTest, AnotherTargetReplacesThePatch) {
  EXPECT_EQ(text_of(apply(with("patch", "spec: {replicas: 5}"))), "");
  Value config = with("patch", "spec: {replicas: 5}");
  config.make("target").make("name") = "other";
  TestPlan planned = plan(config);
  EXPECT_EQ(planned.action, "replace");
  EXPECT_EQ(planned.replaces, std::vector<std::string>{"target"});
}

TEST_F(PatchTest, NeverCreatesItsTarget) {
  Value config = with("patch", "data: {a: b}");
  config.make("target") = Value::object({{"api_version", "v1"}, {"kind", "ConfigMap"}, {"name", "none"}});
  TestPlan planned = plan(config);
  EXPECT_TRUE(text_of(planned.diagnostics)
                  .starts_with("warning: The object to patch does not exist yet (ConfigMap default/none) [target]\n"))
      << text_of(planned.diagnostics);
  EXPECT_TRUE(text_of(apply(config)).contains("the object does not exist, and a patch does not create it"));
  EXPECT_TRUE(get("/api/v1/namespaces/default/configmaps/none").is_null());
}

TEST_F(PatchTest, ADeletedTargetLeavesTheState) {
  EXPECT_EQ(text_of(apply(with("patch", "spec: {replicas: 5}"))), "");
  request("DELETE", std::string(kWeb), "{}");
  pass(std::chrono::seconds(5));
  EXPECT_EQ(text_of(refresh()), "");
  EXPECT_TRUE(state_.is_null());
}

TEST_F(PatchTest, APatchInAClusterThatIsGoneCanBeDestroyed) {
  Value config = with("patch", "spec: {replicas: 5}");
  EXPECT_EQ(text_of(apply(config)), "");
  transport_.fails = [](const http::Request&) { return true; };
  std::string text = text_of(destroy());
  EXPECT_TRUE(
      text.contains("error: The cluster cannot be reached, so the patch was not released (Deployment "
                    "default/web) [cluster]\n"))
      << text;
  EXPECT_TRUE(text.contains("set cluster_gone = true")) << text;
  EXPECT_FALSE(state_.is_null());
  config.make("cluster_gone") = true;
  EXPECT_FALSE(apply(config).has_errors());
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_TRUE(state_.is_null());
}

TEST_F(PatchTest, AConfigurationThatCannotWorkIsRefused) {
  Value none = with("patch", "");
  none.make("patch") = {};
  EXPECT_TRUE(text_of(validate(none)).contains("There is no patch"));
  Value both = with("patch", "spec: {}");
  both.make("merge_patch") = "{}";
  EXPECT_TRUE(text_of(validate(both)).contains("There are several patches")) << text_of(validate(both));
  EXPECT_TRUE(text_of(validate(with("json_patch", "{}"))).contains("it is no JSON Patch"));
  EXPECT_EQ(text_of(validate(with("json_patch", R"([{"op":"set","path":"/spec/replicas","value":3}])"))),
            "error: json_patch cannot be used: it has an operation that cannot work [json_patch]\n"
            "  because   set /spec/replicas: \"op\" is none of add, remove, replace, move, copy, test\n");
  for (std::string_view wrong : {R"({"op":"add","value":3})", R"({"op":"move","path":"/a"})",
                                 R"({"op":"add","path":"/a"})", R"({"path":"/a"})", R"({"op":"remove","path":"a"})"})
    EXPECT_TRUE(text_of(validate(with("json_patch", fmt::format("[{}]", wrong)))).contains("cannot work")) << wrong;
  EXPECT_EQ(
      text_of(validate(with("json_patch", R"([{"op":"remove","path":"/a"},{"op":"copy","from":"/b","path":"/c"}])"))),
      "");
  EXPECT_TRUE(text_of(validate(with("patch", "metadata: {name: x}"))).contains("metadata.name is not part of a patch"));
}

}  // namespace
}  // namespace fairlead::terraform
