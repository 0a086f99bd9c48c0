#include "terraform/bundle/bundle.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "terraform/objects/resource_testing.h"

namespace fairlead::terraform {
namespace {

constexpr std::string_view kWidgets = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w0, namespace: team}
)";

std::string settings_with(std::string_view value) {
  return fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings}}\ndata: {{a: {}}}\n", value);
}
// The API server refuses it.
constexpr std::string_view kBad =
    "---\napiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 0}]}\n";
constexpr std::string_view kGood =
    "---\napiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 1}]}\n";

class BundleResourceTest : public ResourceTest {
 protected:
  BundleResourceTest() : ResourceTest(make_bundle_resource()) {}

  static Value with(std::string yaml, Value::Members more = {}) {
    Value config = Value::object(std::move(more));
    config.make("yaml") = std::move(yaml);
    if (!config.contains("name")) config.make("name") = "shop";
    return config;
  }
  // The API server refuses the Service when it is really sent.
  void refuse_service(bool refuses) {
    transport_.answers = [refuses](const http::Request& request) {
      bool is_it = request.method == "PATCH" && request.target.contains("/services/bad");
      return refuses && is_it && !request.target.contains("dryRun") ? 403 : 0;
    };
  }
  bool has(std::string target) { return !get(std::move(target)).is_null(); }

  // Terraform marks what a failed create left as tainted, and replaces it: it plans a create, destroys with the private
  // state of that plan, and creates.
  Diagnostics apply_tainted(const Value& config) {
    TestPlan planned = plan_tainted(config);
    Diagnostics found = planned.diagnostics;
    if (!found.has_errors()) found.add(apply_plan(planned, config));
    return found;
  }
};

TEST_F(BundleResourceTest, MakesKindsAndTheirInstancesInOneApply) {
  Value config = with(std::string(kWidgets) + settings_with("one"));
  TestPlan planned = plan(config);
  EXPECT_FALSE(planned.diagnostics.has_errors()) << text_of(planned.diagnostics);
  EXPECT_EQ(planned.planned["objects"].members().size(), 4u);
  EXPECT_FALSE(has("/api/v1/namespaces/team"));
  Diagnostics applied = apply(config);
  EXPECT_FALSE(applied.has_errors()) << text_of(applied);
  EXPECT_TRUE(has("/apis/example.com/v1/namespaces/team/widgets/w0"));
  EXPECT_TRUE(state_["complete"].bool_or(false));
  TestPlan again = plan(config);
  EXPECT_EQ(again.action, "none") << text_of(again.diagnostics);
  EXPECT_EQ(text_of(again.diagnostics), "");
}

TEST_F(BundleResourceTest, ChangesAreRolledOutAndWhatLeftTheManifestsIsPruned) {
  EXPECT_EQ(text_of(apply(with(settings_with("one") + std::string(kGood)))), "");
  Value config = with(settings_with("two"));
  TestPlan planned = plan(config);
  EXPECT_EQ(planned.action, "update");
  EXPECT_EQ(text_of(planned.diagnostics),
            "warning: The next apply changes these objects (bundle default/shop) [name]\n"
            "  change    ConfigMap default/settings\n"
            "  delete    Service default/bad\n");
  EXPECT_FALSE(apply(config).has_errors());
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/settings")["data"].dump(), R"({"a":"two"})");
  EXPECT_FALSE(has("/api/v1/namespaces/default/services/bad"));
  EXPECT_EQ(plan(config).action, "none");
}

TEST_F(BundleResourceTest, FilesMayChangeBetweenPlanAndApply) {
  auto file = std::filesystem::temp_directory_path() / fmt::format("fairlead-bundle-{}.yaml", ::getpid());
  auto write = [&](std::string_view value) { std::ofstream(file) << settings_with(value); };
  Value config = Value::object({{"name", "shop"}, {"path", file.string()}});
  for (std::string_view value : {"one", "two"}) {
    write(value);
    TestPlan planned = plan(config);
    EXPECT_FALSE(planned.diagnostics.has_errors()) << text_of(planned.diagnostics);
    write(std::string(value) + "-changed");
    EXPECT_FALSE(apply_plan(planned, config).has_errors());
    EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/settings")["data"]["a"].string_or(""),
              std::string(value) + "-changed");
    EXPECT_EQ(plan(config).action, "none");
  }
  std::filesystem::remove(file);
}

TEST_F(BundleResourceTest, DriftIsFoundAndPutBack) {
  Value config = with(settings_with("one"));
  EXPECT_EQ(text_of(apply(config)), "");
  merge("/api/v1/namespaces/default/configmaps/settings", R"({"data":{"a":"theirs"}})");
  EXPECT_EQ(plan(config).action, "update");
  EXPECT_FALSE(apply(config).has_errors());
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/settings")["data"].dump(), R"({"a":"one"})");
}

TEST_F(BundleResourceTest, AHalfMadeBundleStaysInTheStateAndTheNextApplyGoesOnAndDeletesNothing) {
  Value good = with(settings_with("one") + std::string(kGood), {{"timeout", "1m"}});
  refuse_service(true);
  Diagnostics failed = apply(good);
  EXPECT_TRUE(failed.has_errors());
  EXPECT_TRUE(text_of(failed).contains("Service default/bad")) << text_of(failed);
  EXPECT_FALSE(state_["complete"].bool_or(true));
  EXPECT_TRUE(state_["objects"].contains("ConfigMap settings"));
  Json made = get("/api/v1/namespaces/default/configmaps/settings");
  refuse_service(false);
  std::vector<std::string> deleted;
  transport_.before = [&](const http::Request& request) {
    if (request.method == "DELETE") deleted.push_back(request.target);
  };
  Diagnostics went_on = apply_tainted(good);
  EXPECT_FALSE(went_on.has_errors()) << text_of(went_on);
  EXPECT_EQ(deleted, std::vector<std::string>());
  EXPECT_TRUE(state_["complete"].bool_or(false));
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/settings")["metadata"]["uid"], made["metadata"]["uid"]);
  EXPECT_TRUE(has("/api/v1/namespaces/default/services/bad"));
}

TEST_F(BundleResourceTest, WhatTheServerWouldRefuseIsAnErrorOfThePlan) {
  std::string text = text_of(plan(with(settings_with("one") + std::string(kBad))).diagnostics);
  EXPECT_TRUE(text.starts_with("error: Service default/bad was not accepted (bundle default/shop) [yaml]\n")) << text;
  EXPECT_TRUE(text.contains("spec.ports[0].port")) << text;
  // The first line of the Service's document.
  EXPECT_TRUE(text.contains("  from      yaml:7\n")) << text;
  EXPECT_TRUE(text.contains("  next      correct the manifests, then plan again\n")) << text;
}

TEST_F(BundleResourceTest, ANamespaceThatIsMissingCanBeCreatedByTheBundle) {
  Value config = with(settings_with("one"), {{"namespace", "team"}});
  std::string text = text_of(plan(config).diagnostics);
  EXPECT_TRUE(text.contains("  next      add it to the manifests, or set create_namespace = true\n")) << text;
  config.make("create_namespace") = true;
  EXPECT_FALSE(plan(config).diagnostics.has_errors());
  EXPECT_FALSE(apply(config).has_errors());
  EXPECT_TRUE(has("/api/v1/namespaces/team/configmaps/settings"));
}

TEST_F(BundleResourceTest, AFailedUpdateIsPlannedAgain) {
  EXPECT_EQ(text_of(apply(with(settings_with("one")))), "");
  Value good = with(settings_with("two") + std::string(kGood));
  refuse_service(true);
  EXPECT_TRUE(apply(good).has_errors());
  EXPECT_FALSE(state_["complete"].bool_or(true));
  refuse_service(false);
  EXPECT_EQ(plan(good).action, "update");
  EXPECT_FALSE(apply(good).has_errors());
  EXPECT_TRUE(state_["complete"].bool_or(false));
}

TEST_F(BundleResourceTest, IsDestroyedInOrder) {
  EXPECT_FALSE(apply(with(std::string(kWidgets))).has_errors());
  Diagnostics destroyed = destroy();
  EXPECT_EQ(text_of(destroyed), "");
  EXPECT_TRUE(state_.is_null());
  EXPECT_FALSE(has("/api/v1/namespaces/team"));
  EXPECT_FALSE(has("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"));
  EXPECT_FALSE(has("/api/v1/namespaces/default/configmaps/fairlead-shop"));
}

TEST_F(BundleResourceTest, AHalfMadeBundleIsReallyDestroyed) {
  refuse_service(true);
  EXPECT_TRUE(apply(with(settings_with("one") + std::string(kGood))).has_errors());
  EXPECT_FALSE(state_.is_null());
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_FALSE(has("/api/v1/namespaces/default/configmaps/settings"));
}

TEST_F(BundleResourceTest, AnotherNameReplacesTheBundle) {
  EXPECT_EQ(text_of(apply(with(settings_with("one")))), "");
  Value config = with(settings_with("one"), {{"name", "other"}});
  TestPlan planned = plan(config);
  EXPECT_EQ(planned.action, "replace");
  EXPECT_FALSE(apply_plan(planned, config).has_errors());
  EXPECT_FALSE(has("/api/v1/namespaces/default/configmaps/fairlead-shop"));
  EXPECT_TRUE(has("/api/v1/namespaces/default/configmaps/fairlead-other"));
  EXPECT_TRUE(has("/api/v1/namespaces/default/configmaps/settings"));
}

TEST_F(BundleResourceTest, ABundleOfOthersIsAdoptedOnlyOnRequest) {
  EXPECT_EQ(text_of(apply(with(settings_with("one")))), "");
  state_ = {};
  EXPECT_EQ(
      text_of(apply(with(settings_with("one")))),
      "error: The bundle exists already (bundle default/shop) [name]\n"
      "  because   an earlier run made it, or `fairlead apply --name`\n"
      "  next      set adopt = true to go on with it, or choose another name; fairlead status shows what it has\n");
  EXPECT_EQ(text_of(apply(with(settings_with("one"), {{"adopt", true}}))), "");
}

TEST_F(BundleResourceTest, ProtectionFailsThePlanOfADestroy) {
  EXPECT_EQ(text_of(apply(with(settings_with("one"), {{"delete_protection", true}}))), "");
  EXPECT_TRUE(
      text_of(plan({}).diagnostics).contains("The bundle is protected and cannot be destroyed (bundle default/shop)"));
}

TEST_F(BundleResourceTest, ProtectionKeepsABundleThatTheUserWantsReplaced) {
  Value config = with(settings_with("one"), {{"delete_protection", true}});
  EXPECT_EQ(text_of(apply(config)), "");
  EXPECT_EQ(plan_only(config).action, "none");
  constexpr std::string_view kRefused =
      "error: The bundle is protected and cannot be replaced (bundle default/shop) [delete_protection]\n"
      "  because   delete_protection = true\n"
      "  next      set delete_protection = false and apply; then plan again\n";
  EXPECT_EQ(text_of(plan_replacement(config).diagnostics), kRefused);
  config.make("name") = Value::unknown();
  EXPECT_EQ(text_of(plan_replacement(config).diagnostics), kRefused);
}

TEST_F(BundleResourceTest, ProtectionKeepsABundleThatIsTainted) {
  Value config = with(settings_with("one"), {{"delete_protection", true}});
  EXPECT_EQ(text_of(apply(config)), "");
  constexpr std::string_view kRefused =
      "error: The bundle is protected and cannot be replaced (bundle default/shop) [delete_protection]\n"
      "  because   the state has it with delete_protection = true, and the plan would create it again\n"
      "  next      if it is tainted: terraform untaint ADDRESS; if another resource has it: remove one of the two\n";
  begin_process(make_bundle_resource());
  EXPECT_EQ(text_of(plan_tainted(config).diagnostics), kRefused);
  transport_.fails = [](const http::Request&) { return true; };
  EXPECT_EQ(text_of(plan_tainted(config).diagnostics), kRefused);
  transport_.fails = {};
  // Without its name, no plan can tell. Nothing is deleted all the same.
  config.make("name") = Value::unknown();
  TestPlan planned = plan_tainted(config);
  EXPECT_EQ(text_of(planned.diagnostics), "");
  EXPECT_EQ(text_of(apply_plan(planned, config)),
            "error: The bundle is protected and cannot be destroyed (bundle default/shop) [delete_protection]\n"
            "  because   delete_protection = true\n"
            "  next      terraform untaint ADDRESS; to replace it all the same, set delete_protection = false, apply, "
            "and taint it again\n");
  EXPECT_TRUE(has("/api/v1/namespaces/default/configmaps/settings"));
}

TEST_F(BundleResourceTest, AHalfMadeBundleGoesOnThoughItIsProtected) {
  Value good = with(settings_with("one") + std::string(kGood), {{"timeout", "1m"}, {"delete_protection", true}});
  refuse_service(true);
  EXPECT_TRUE(apply(good).has_errors());
  refuse_service(false);
  begin_process(make_bundle_resource());
  Diagnostics went_on = apply_tainted(good);
  EXPECT_FALSE(went_on.has_errors()) << text_of(went_on);
  EXPECT_TRUE(state_["complete"].bool_or(false));
}

TEST_F(BundleResourceTest, AnUnknownClusterMakesAnHonestPlan) {
  Value config = with(settings_with("one"), {{"cluster", Value::object({{"host", Value::unknown()}})}});
  TestPlan planned = plan(config);
  EXPECT_EQ(text_of(planned.diagnostics), "");
  EXPECT_EQ(planned.action, "create");
}

TEST_F(BundleResourceTest, AnUnreachableClusterAtDestroyIsAnErrorUnlessItIsGone) {
  Value config = with(settings_with("one"));
  EXPECT_EQ(text_of(apply(config)), "");
  transport_.fails = [](const http::Request&) { return true; };
  Diagnostics found = destroy();
  EXPECT_TRUE(text_of(found).contains("error: The cluster cannot be reached (bundle default/shop) [cluster]\n"))
      << text_of(found);
  EXPECT_TRUE(text_of(found).contains("set cluster_gone = true")) << text_of(found);
  EXPECT_FALSE(state_.is_null());
  config.make("cluster_gone") = true;
  EXPECT_FALSE(apply(config).has_errors());
  EXPECT_FALSE(destroy().has_errors());
  EXPECT_TRUE(state_.is_null());
}

TEST_F(BundleResourceTest, ValuesOfSecretsAreNotInTheState) {
  Value config = with("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter22222}\n");
  EXPECT_EQ(text_of(apply(config)), "");
  Value shown = state_;
  shown.make("yaml") = {};
  EXPECT_FALSE(shown.to_json()->dump().contains("hunter22222"));
}

}  // namespace
}  // namespace fairlead::terraform
