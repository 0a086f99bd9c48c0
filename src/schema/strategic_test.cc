#include "schema/strategic.h"

#include <gtest/gtest.h>

#include "schema/types/builtin.h"

namespace fairlead::schema {
namespace {

Json json(std::string_view text) { return *Json::parse(text); }

std::string patched(std::string_view document, std::string_view patch) {
  SchemaPtr schema = builtin_schema("apps", "v1", "Deployment");
  std::expected<Json, Refusal> after = strategic_merge(*schema, json(document), json(patch));
  return after ? after->dump() : after.error().message;
}

constexpr std::string_view kDeployment =
    R"({"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"y"}]}}}})";

TEST(Strategic, MergesListsByTheirKey) {
  EXPECT_EQ(
      patched(kDeployment, R"({"spec":{"template":{"spec":{"containers":[{"name":"b","image":"z"}]}}}})"),
      R"({"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"z"}]}}}})");
  EXPECT_EQ(
      patched(kDeployment,
              R"({"spec":{"replicas":null,"template":{"spec":{"containers":[{"name":"a","$patch":"delete"}]}}}})"),
      R"({"spec":{"template":{"spec":{"containers":[{"name":"b","image":"y"}]}}}})");
}

TEST(Strategic, ReplacesWhereItSaysSo) {
  EXPECT_EQ(
      patched(kDeployment, R"({"spec":{"template":{"spec":{"containers":[{"name":"c"},{"$patch":"replace"}]}}}})"),
      R"({"spec":{"replicas":1,"template":{"spec":{"containers":[{"name":"c"}]}}}})");
  EXPECT_EQ(patched(R"({"metadata":{"finalizers":["a","b"]}})",
                    R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]}})"),
            R"({"metadata":{"finalizers":["c","b"]}})");
}

// kubectl names the member that is removed with null, and leaves it out of $retainKeys.
TEST(Strategic, KeepsOnlyWhatIsToBeRetained) {
  EXPECT_EQ(patched(R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
                    R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate","rollingUpdate":null}}})"),
            R"({"spec":{"strategy":{"type":"Recreate"}}})");
  EXPECT_EQ(patched(R"({"spec":{"strategy":{"type":"RollingUpdate"}}})",
                    R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate","rollingUpdate":{}}}})"),
            "invalid patch format of retainKeys");
}

TEST(Strategic, WantsTheKeyOfEveryItem) {
  EXPECT_EQ(patched(kDeployment, R"({"spec":{"template":{"spec":{"containers":[{"image":"z"}]}}}})"),
            "map: map[image:z] does not contain declared merge key: name");
}

}  // namespace
}  // namespace fairlead::schema
