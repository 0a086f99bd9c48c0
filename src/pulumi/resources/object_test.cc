// The resource KubeObject, from bytes to what is in the cluster.
#include <gmock/gmock.h>

#include "pulumi/resources/pulumi_testing.h"

namespace fairlead::pulumi {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kMap = "/api/v1/namespaces/default/configmaps/settings";

Json config_map(std::string_view level, std::string_view name = "settings") {
  return json(fmt::format(R"({{"manifest":{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},)"
                          R"("data":{{"level":"{}"}}}}}})",
                          name, level));
}

class ObjectTest : public PulumiTest {};

TEST_F(ObjectTest, IsCreatedUpdatedAndDeleted) {
  Json inputs = config_map("low");
  EXPECT_THAT(check("KubeObject", inputs), IsEmpty());
  std::optional<Kept> made = create("KubeObject", checked_);
  ASSERT_TRUE(made) << error_;
  EXPECT_EQ(made->id, "v1/ConfigMap:default/settings");
  EXPECT_EQ(made->outputs["manifest"].dump(), sorted(inputs["manifest"]).dump());
  EXPECT_EQ(made->outputs["objectRef"],
            json(R"({"apiVersion":"v1","kind":"ConfigMap","name":"settings","namespace":"default"})"));
  EXPECT_EQ(made->outputs["managedStateProjection"]["data.level"], Json("low"));
  Json stored = get(std::string(kMap));
  EXPECT_EQ(stored["data"]["level"], Json("low"));
  EXPECT_EQ(stored["metadata"]["annotations"]["fairlead.dev/pulumi-id"], made->outputs[kBookkeeping]["id"]);
  EXPECT_EQ(stored["metadata"]["managedFields"].item(0)["manager"], Json("fairlead-pulumi"));

  start();
  EXPECT_EQ(diff("KubeObject", *made, inputs), (TestDiff{.deletes_first = true})) << error_;
  Json changed = config_map("high");
  EXPECT_EQ(diff("KubeObject", *made, changed), (TestDiff{true, true, {}, {"manifest.data.level"}})) << error_;
  std::optional<Kept> preview = update("KubeObject", *made, changed, true);
  ASSERT_TRUE(preview) << error_;
  EXPECT_EQ(preview->outputs["managedStateProjection"]["data.level"], Json("high"));
  EXPECT_TRUE(is_unknown(preview->outputs["revision"]));
  EXPECT_EQ(get(std::string(kMap))["data"]["level"], Json("low"));
  std::optional<Kept> updated = update("KubeObject", *made, changed);
  ASSERT_TRUE(updated) << error_;
  EXPECT_NE(updated->outputs["revision"], made->outputs["revision"]);
  EXPECT_EQ(get(std::string(kMap))["data"]["level"], Json("high"));

  start();
  ASSERT_TRUE(remove("KubeObject", *updated)) << error_;
  EXPECT_TRUE(get(std::string(kMap)).is_null());
}

TEST_F(ObjectTest, APreviewChangesNothing) {
  std::optional<Kept> preview = create("KubeObject", config_map("low"), true);
  ASSERT_TRUE(preview) << error_;
  EXPECT_EQ(preview->id, "");
  EXPECT_EQ(preview->outputs["managedStateProjection"]["data.level"], Json("low"));
  EXPECT_TRUE(is_unknown(preview->outputs["revision"]));
  EXPECT_FALSE(preview->outputs.contains(kBookkeeping));
  EXPECT_TRUE(get(std::string(kMap)).is_null());
}

TEST_F(ObjectTest, APreviewOfWhatIsNotThereYetDoesNotWait) {
  Json inputs =
      json(R"({"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"later"}}})");
  TimePoint before = loop_.now();
  std::optional<Kept> preview = create("KubeObject", inputs, true);
  ASSERT_TRUE(preview) << error_;
  EXPECT_TRUE(is_unknown(preview->outputs["managedStateProjection"]));
  EXPECT_EQ(loop_.now(), before);
}

TEST_F(ObjectTest, UnknownValuesStayUnknown) {
  Json inputs = config_map("low");
  inputs.make("manifest").make("data").make("level") = kUnknown;
  EXPECT_THAT(check("KubeObject", inputs), IsEmpty());
  EXPECT_EQ(checked_.dump(), sorted(inputs).dump());
  std::optional<Kept> preview = create("KubeObject", inputs, true);
  ASSERT_TRUE(preview) << error_;
  EXPECT_EQ(preview->outputs["manifest"].dump(), sorted(inputs["manifest"]).dump());
  EXPECT_TRUE(is_unknown(preview->outputs["objectRef"]));

  std::optional<Kept> made = create("KubeObject", config_map("low"));
  ASSERT_TRUE(made) << error_;
  std::optional<TestDiff> changed = diff("KubeObject", *made, inputs);
  ASSERT_TRUE(changed) << error_;
  EXPECT_THAT(changed->paths, ElementsAre("manifest.data.level"));
  EXPECT_THAT(changed->replaces, IsEmpty());
}

TEST_F(ObjectTest, ASecretStaysOne) {
  Json inputs = config_map("low");
  inputs.make("manifest").make("data").make("level") = secret("hunter2hunter2");
  EXPECT_THAT(check("KubeObject", inputs), IsEmpty());
  EXPECT_EQ(checked_.dump(), sorted(inputs).dump());
  std::optional<Kept> made = create("KubeObject", checked_);
  ASSERT_TRUE(made) << error_;
  EXPECT_EQ(get(std::string(kMap))["data"]["level"], Json("hunter2hunter2"));
  EXPECT_EQ(made->outputs["manifest"].dump(), sorted(inputs["manifest"]).dump());
  EXPECT_TRUE(is_secret(made->outputs["managedStateProjection"]));
  EXPECT_EQ(diff("KubeObject", *made, inputs), (TestDiff{.deletes_first = true})) << error_;
  for (const LogLine& line : engine_.lines) EXPECT_THAT(line.text, testing::Not(HasSubstr("hunter2")));
}

TEST_F(ObjectTest, AnotherNameReplacesIt) {
  std::optional<Kept> made = create("KubeObject", config_map("low"));
  ASSERT_TRUE(made) << error_;
  start();
  Json renamed = config_map("low", "other");
  EXPECT_EQ(diff("KubeObject", *made, renamed), (TestDiff{true, true, {"manifest"}, {"manifest.metadata.name"}}))
      << error_;
}

// The engine previews the create of a replacement while the former object is still there.
TEST_F(ObjectTest, AnImmutableFieldReplacesIt) {
  auto inputs = [](std::string_view level) {
    Json out = config_map(level);
    out.make("manifest").make("immutable") = true;
    return out;
  };
  std::optional<Kept> made = create("KubeObject", inputs("low"));
  ASSERT_TRUE(made) << error_;
  start();
  EXPECT_EQ(diff("KubeObject", *made, inputs("high")), (TestDiff{true, true, {"manifest"}, {"manifest.data.level"}}))
      << error_;
  std::optional<Kept> preview = create("KubeObject", inputs("high"), true);
  EXPECT_TRUE(preview) << error_;
  ASSERT_TRUE(remove("KubeObject", *made)) << error_;
  ASSERT_TRUE(create("KubeObject", inputs("high"))) << error_;
  EXPECT_EQ(get(std::string(kMap))["data"]["level"], Json("high"));
}

TEST_F(ObjectTest, ARefreshFindsWhatOthersChanged) {
  std::optional<Kept> made = create("KubeObject", config_map("low"));
  ASSERT_TRUE(made) << error_;
  merge(std::string(kMap), R"({"data":{"level":"drifted"}})");
  start();
  std::optional<Kept> now = read("KubeObject", *made);
  ASSERT_TRUE(now) << error_;
  EXPECT_EQ(now->id, made->id);
  EXPECT_EQ(now->inputs.dump(), sorted(made->inputs).dump());
  EXPECT_EQ(now->outputs["managedStateProjection"]["data.level"], Json("drifted"));
  std::optional<TestDiff> found = diff("KubeObject", *now, made->inputs);
  ASSERT_TRUE(found) << error_;
  EXPECT_THAT(found->paths, ElementsAre(R"(managedStateProjection["data.level"])"));
  std::optional<Kept> back = update("KubeObject", *now, made->inputs);
  ASSERT_TRUE(back) << error_;
  EXPECT_EQ(get(std::string(kMap))["data"]["level"], Json("low"));
}

TEST_F(ObjectTest, WhatIsGoneIsGone) {
  std::optional<Kept> made = create("KubeObject", config_map("low"));
  ASSERT_TRUE(made) << error_;
  request("DELETE", std::string(kMap), "");
  start();
  EXPECT_FALSE(read("KubeObject", *made));
  EXPECT_EQ(error_, "");
}

TEST_F(ObjectTest, IsImportedAsItIsAndTakenOverByTheNextUpdate) {
  request("POST", "/api/v1/namespaces/default/configmaps",
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"level":"low","more":"x"}})");
  std::optional<Kept> imported =
      read("KubeObject", {.id = "v1/ConfigMap:default/settings", .inputs = {}, .outputs = {}});
  ASSERT_TRUE(imported) << error_;
  EXPECT_EQ(imported->id, "v1/ConfigMap:default/settings");
  EXPECT_EQ(imported->inputs["manifest"]["data"], json(R"({"level":"low","more":"x"})"));
  EXPECT_THAT(check("KubeObject", imported->inputs), IsEmpty());
  // What the program says of it is so already: `import` as an option of a resource demands that.
  EXPECT_EQ(diff("KubeObject", *imported, config_map("low")), (TestDiff{.deletes_first = true})) << error_;
  EXPECT_TRUE(diff("KubeObject", *imported, config_map("high"))->changes);
  std::optional<Kept> updated = update("KubeObject", *imported, config_map("high"));
  ASSERT_TRUE(updated) << error_;
  Json stored = get(std::string(kMap));
  EXPECT_EQ(stored["data"]["level"], Json("high"));
  EXPECT_TRUE(stored["metadata"]["annotations"].contains("fairlead.dev/pulumi-id"));
}

TEST_F(ObjectTest, AnIdThatIsNoneIsExplained) {
  EXPECT_FALSE(read("KubeObject", {.id = "settings", .inputs = {}, .outputs = {}}));
  EXPECT_EQ(error_,
            "\"settings\" is not the id of an object\n"
            "  because   an id has the form APIVERSION/KIND:NAMESPACE/NAME, or APIVERSION/KIND:NAME for kinds without "
            "namespaces\n"
            "  next      for example: apps/v1/Deployment:shop/web");
}

TEST_F(ObjectTest, WhatExistsAlreadyIsNotTakenOverUnasked) {
  request("POST", "/api/v1/namespaces/default/configmaps",
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"level":"theirs"}})");
  EXPECT_FALSE(create("KubeObject", config_map("low")));
  EXPECT_THAT(error_, HasSubstr("The object exists already (ConfigMap default/settings)"));
  EXPECT_THAT(error_, HasSubstr("pulumi import fairlead:index:KubeObject NAME 'v1/ConfigMap:default/settings'"));
  EXPECT_THAT(error_, HasSubstr("or set adopt: true"));
  EXPECT_FALSE(create("KubeObject", config_map("low"), true)) << "a preview says so, too";
  Json adopting = config_map("low");
  adopting.make("adopt") = true;
  EXPECT_TRUE(create("KubeObject", adopting)) << error_;
  EXPECT_EQ(get(std::string(kMap))["data"]["level"], Json("low"));
}

TEST_F(ObjectTest, ACreateIsSentAgainUntilItsNamespaceIsThere) {
  request_later(std::chrono::seconds(10), "POST", "/api/v1/namespaces",
                R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"later"}})");
  Json inputs =
      json(R"({"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"later"}}})");
  ASSERT_TRUE(create("KubeObject", inputs)) << error_;
  ASSERT_FALSE(engine_.lines.empty());
  EXPECT_TRUE(engine_.lines.front().is_ephemeral);
  EXPECT_EQ(engine_.lines.front().urn, urn("KubeObject"));
  EXPECT_THAT(engine_.lines.front().text, HasSubstr("ConfigMap later/a waits: "));
}

TEST_F(ObjectTest, CustomTimeoutsLimitIt) {
  Json inputs =
      json(R"({"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"never"}}})");
  TimePoint before = loop_.now();
  EXPECT_FALSE(create("KubeObject", inputs, false, 5));
  EXPECT_LE(loop_.now() - before, std::chrono::seconds(6));
  EXPECT_THAT(error_, HasSubstr("The object was not accepted (ConfigMap never/a)"));
}

TEST_F(ObjectTest, FailuresNameTheProperty) {
  EXPECT_THAT(check("KubeObject", json("{}")), ElementsAre("yaml: There is no manifest\nSet manifest or yaml."));
  EXPECT_THAT(check("KubeObject", json(R"({"manifest":{"kind":"ConfigMap"}})")), ElementsAre(HasSubstr("manifest: ")));
  EXPECT_THAT(check("KubeObject", json(R"({"manifst":{}})")),
              ElementsAre("manifst: There is no property \"manifst\"\nfairlead:index:KubeObject does not have it."));
  Json wrong = config_map("low");
  wrong.make("onConflict") = "maybe";
  EXPECT_THAT(check("KubeObject", wrong), ElementsAre(HasSubstr("onConflict: ")));
  wrong = config_map("low");
  wrong.make("yaml") = "kind: x";
  EXPECT_THAT(check("KubeObject", wrong), ElementsAre("yaml: There are two manifests\nSet either manifest or yaml."));
}

}  // namespace
}  // namespace fairlead::pulumi
