// What the recordings of a real server (apply_replay_test.cc) do not show.
#include "schema/apply.h"

#include <gtest/gtest.h>

#include <fstream>

#include "fields/owned.h"
#include "schema/defaults/defaults.h"
#include "schema/defaults/stored.h"
#include "schema/types/builtin.h"
#include "schema/types/custom.h"

namespace fairlead::schema {
namespace {

Json json(std::string_view text) {
  Result<Json> parsed = Json::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? *parsed : Json();
}

Target config_map() {
  SchemaPtr schema = builtin_schema("", "v1", "ConfigMap");
  return {.api_version = "v1",
          .kind = "ConfigMap",
          .subresource = "",
          .versions = {{"v1", schema}},
          .reset = {},
          .convert = {},
          .complete = [schema](Json object) { return with_defaults(*schema, stored_form(*schema, object)); }};
}

Writer writer(std::string manager, bool force = false) {
  return {std::move(manager), std::chrono::sys_seconds(std::chrono::seconds(5)), force};
}

std::string refusal(const Target& target, const Json& live, std::string_view configuration) {
  auto result = apply(target, live, json(configuration), writer("m"));
  return result ? "taken" : result.error().status().dump();
}

TEST(Apply, RefusesAnotherKindAndVersion) {
  EXPECT_EQ(
      refusal(config_map(), Json(), R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}})"),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"invalid object type: /v1, Kind=Secret","reason":"BadRequest","code":400})");
  EXPECT_EQ(
      refusal(config_map(), Json(), R"({"apiVersion":"apps/v2","kind":"ConfigMap","metadata":{"name":"x"}})"),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"invalid object type: apps/v2, Kind=ConfigMap","reason":"BadRequest","code":400})");
}

TEST(Apply, SaysWhoOwnsAFieldThroughASubresource) {
  Json live = json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","uid":"u","managedFields":[
    {"manager":"other","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}},"subresource":"status"}]},"data":{"a":"1"}})");
  auto result =
      apply(config_map(), live,
            json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"2"}})"), writer("m"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message,
            R"(Apply failed with 1 conflict: conflict with "other" with subresource "status" using v1: .data.a)");
}

TEST(Apply, RefusesALiveObjectWhoseOwnersCannotBeRead) {
  Json live =
      json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","managedFields":[{"operation":"Steal"}]}})");
  auto result =
      apply(config_map(), live, json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}})"), writer("m"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, "failed to decode managed fields: operation must be `Apply` or `Update`");
}

TEST(Apply, ForgetsOwnersInVersionsThatAreNoLongerServed) {
  Json live = json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","uid":"u","managedFields":[
    {"manager":"old","operation":"Update","apiVersion":"v0","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}]},"data":{"a":"1"}})");
  auto result =
      apply(config_map(), live,
            json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"2"}})"), writer("m"));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ((*result)["metadata"]["managedFields"].items().size(), 1u);
  EXPECT_EQ((*result)["metadata"]["managedFields"].item(0)["manager"], Json("m"));
}

TEST(TrackUpdate, GivesUpOnOwnersOfAnObjectThatDoesNotFit) {
  Json updated = track_update(config_map(), Json(),
                              json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":1}})"),
                              writer("m"));
  EXPECT_FALSE(updated["metadata"].contains("managedFields"));
}

TEST(TrackUpdate, DoesNotStartInTheMiddle) {
  Json live = json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","uid":"u"},"data":{"a":"1"}})");
  Json updated = live;
  updated.make("data").make("a") = "2";
  EXPECT_FALSE(track_update(config_map(), live, updated, writer("m"))["metadata"].contains("managedFields"));
}

TEST(KeepTimes, LeavesAChangedObjectAlone) {
  auto object = [](std::string_view value, std::string_view time) {
    return json(fmt::format(
        R"({{"metadata":{{"managedFields":[{{"manager":"m","operation":"Apply","apiVersion":"v1","time":"{}","fieldsType":"FieldsV1","fieldsV1":{{}}}}]}},"data":{{"a":"{}"}}}})",
        time, value));
  };
  Json live = object("1", "2026-01-01T00:00:00Z"), same = object("1", "2026-01-02T00:00:00Z"),
       other = object("2", "2026-01-02T00:00:00Z");
  Json kept = same, changed = other;
  keep_times(live, kept);
  keep_times(live, changed);
  EXPECT_EQ(kept, live);
  EXPECT_EQ(changed, other);
}

TEST(ManagerName, ComesFromTheUserAgent) {
  EXPECT_EQ(manager_name("mine", "kubectl/v1.37"), "mine");
  EXPECT_EQ(manager_name("", "kubectl/v1.37 (linux)"), "kubectl");
  EXPECT_EQ(manager_name("", std::string(200, 'x')), std::string(128, 'x'));
  EXPECT_EQ(manager_name("", ""), "unknown");
}

TEST(ResetFields, FollowTheKind) {
  EXPECT_EQ(reset_fields("apps", "Deployment", "", true).dump().dump(), R"({"f:status":{}})");
  EXPECT_EQ(reset_fields("apps", "Deployment", "status", true).dump().dump(),
            R"({"f:metadata":{"f:labels":{}},"f:spec":{}})");
  EXPECT_EQ(reset_fields("", "ConfigMap", "", false).dump().dump(), "{}");
  EXPECT_EQ(reset_fields("apiregistration.k8s.io", "APIService", "status", true).dump().dump(),
            R"({"f:metadata":{},"f:spec":{}})");
}

// The rule that lets a client leave out a request: whatever it takes for unchanged, an apply does not change.
TEST(IsUnchanged, IsNeverTrueForAnApplyThatChangesSomething) {
  std::ifstream in(FAIRLEAD_SOURCE_DIR "/tests/fixtures/apply.jsonl");
  std::map<std::string, std::vector<std::pair<std::string, Json>>, std::less<>> applied;
  size_t certain = 0, looked_at = 0;
  Json widget_schema;
  for (std::string text; std::getline(in, text);) {
    Json line = json(text);
    if (line.contains("widgetSchema")) widget_schema = line["widgetSchema"];
    if (line["verb"].string_or("") != "apply" || !line["subresource"].string_or("").empty()) continue;
    auto& configurations = applied[line["sequence"].string_or("").data()];
    configurations.emplace_back(line["manager"].string_or(""), line["body"]);
    const Json& live = line["answer"];
    if (line["code"].int_or(0) >= 300) continue;
    // Everything that anybody has applied so far, held against the object as it is now.
    for (const auto& [manager, configuration] : configurations) {
      std::string version(configuration["apiVersion"].string_or("")), kind(configuration["kind"].string_or(""));
      if (version != live["apiVersion"].string_or("")) continue;
      ++looked_at;
      if (!fields::is_unchanged(configuration, live, manager)) continue;
      ++certain;
      size_t slash = version.find('/');
      SchemaPtr schema = kind == "Widget" ? custom_schema(widget_schema)
                                          : builtin_schema(slash == std::string::npos ? "" : version.substr(0, slash),
                                                           version.substr(slash + 1), kind);
      Target target{
          .api_version = version,
          .kind = kind,
          .subresource = "",
          .versions = {{version, schema}, {"record.fairlead.dev/v1", schema}, {"record.fairlead.dev/v1beta1", schema}},
          .reset = {},
          .convert = {},
          .complete = [schema](Json object) { return with_defaults(*schema, stored_form(*schema, object)); }};
      target.reset =
          reset_fields(slash == std::string::npos ? "" : version.substr(0, slash), kind, "", kind != "ConfigMap");
      auto again = apply(target, live, configuration, writer(manager));
      ASSERT_TRUE(again.has_value()) << again.error().message;
      keep_times(live, *again);
      EXPECT_TRUE(fields::equal_values(*again, live)) << configuration.pretty() << live.pretty();
    }
  }
  EXPECT_GT(looked_at, 200u);
  EXPECT_GT(certain, 60u);
}

}  // namespace
}  // namespace fairlead::schema
