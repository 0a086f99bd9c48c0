#include "schema/internal/last_applied.h"

#include <gtest/gtest.h>

#include "schema/apply.h"
#include "schema/types/builtin.h"

namespace fairlead::schema {
namespace {

constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

Json config_map(Json data) {
  return Json::Object{{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", Json::Object{{"name", "c"}}},
                      {"data", std::move(data)}};
}

Target target() {
  Target target;
  target.api_version = "v1";
  target.kind = "ConfigMap";
  target.versions.emplace("v1", builtin_schema("", "v1", "ConfigMap"));
  return target;
}

// As kubectl apply on the client's side leaves it.
Json applied_by_client(Json data) {
  Json object = config_map(std::move(data));
  std::string text = object.dump();
  object.make("metadata").make("uid") = "1";
  object.make("metadata").make("annotations").make(kAnnotation) = text;
  return track_update(target(), Json(), std::move(object), {"kubectl-client-side-apply", {}});
}

TEST(LastApplied, KubectlTakesOverWhatItAppliedItself) {
  Json live = applied_by_client(Json::Object{{"a", "1"}, {"b", "<"}});
  auto result = apply(target(), live, config_map(Json::Object{{"b", "<&>"}, {"a", "2"}}), {"kubectl", {}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ((*result)["data"].dump(), R"({"a":"2","b":"<&>"})");
  EXPECT_EQ((*result)["metadata"]["annotations"][kAnnotation].string_or(""),
            "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"2\",\"b\":\"\\u003c\\u0026\\u003e\"},\"kind\":\"ConfigMap\","
            "\"metadata\":{\"name\":\"c\"}}\n");
}

TEST(LastApplied, NobodyElseDoes) {
  Json live = applied_by_client(Json::Object{{"a", "1"}});
  auto result = apply(target(), live, config_map(Json::Object{{"a", "2"}}), {"somebody", {}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.a");
}

TEST(LastApplied, WhatHasChangedSinceIsAConflict) {
  Json live = applied_by_client(Json::Object{{"a", "1"}, {"b", "1"}});
  Json changed = live;
  changed.make("data").make("a") = "9";
  changed = track_update(target(), live, std::move(changed), {"editor", {}});
  auto result = apply(target(), changed, config_map(Json::Object{{"a", "2"}, {"b", "2"}}), {"kubectl", {}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "Apply failed with 1 conflict: conflict with \"editor\" using v1: .data.a");
}

TEST(LastApplied, AnnotationsThatMakeNoSenseCountForNothing) {
  SchemaPtr schema = builtin_schema("", "v1", "ConfigMap");
  for (const char* text : {"", "{", "{}", R"({"apiVersion":"v2"})", R"({"apiVersion":"v1","data":7})"}) {
    Json live = config_map(Json::Object{{"a", "1"}});
    live.make("metadata").make("annotations").make(kAnnotation) = text;
    EXPECT_TRUE(last_applied_fields(*schema, "v1", live).empty()) << text;
  }
}

TEST(LastApplied, WhereThereIsNoAnnotationNoneIsMade) {
  Json object = config_map(Json::Object{});
  renew_last_applied(config_map(Json::Object{{"a", "1"}}), object);
  EXPECT_EQ(object, config_map(Json::Object{}));
}

}  // namespace
}  // namespace fairlead::schema
