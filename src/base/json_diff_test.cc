#include "base/json_diff.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json_patch.h"

namespace fairlead {
namespace {

std::string between(std::string_view before, std::string_view after) {
  return json_patch_between(Json::parse(before).value(), Json::parse(after).value()).dump();
}

TEST(JsonDiff, MembersAreAddedRemovedAndReplaced) {
  EXPECT_EQ(between(R"({"a":1,"b":{"c":2,"d":3}})", R"({"b":{"c":4,"d":3},"e":[true]})"),
            R"([{"op":"remove","path":"/a"},{"op":"replace","path":"/b/c","value":4},)"
            R"({"op":"add","path":"/e","value":[true]}])");
}

TEST(JsonDiff, TheOrderOfMembersIsNoDifference) { EXPECT_EQ(between(R"({"a":1,"b":2})", R"({"b":2,"a":1})"), "[]"); }

TEST(JsonDiff, KeysAreEscaped) {
  EXPECT_EQ(between(R"({"x":{}})", R"({"x":{"a/b~c":1}})"), R"([{"op":"add","path":"/x/a~1b~0c","value":1}])");
}

TEST(JsonDiff, ListsGrowAndShrinkAtTheirEnd) {
  EXPECT_EQ(between(R"({"l":[1,2,3]})", R"({"l":[1]})"),
            R"([{"op":"remove","path":"/l/2"},{"op":"remove","path":"/l/1"}])");
  EXPECT_EQ(between(R"({"l":[1]})", R"({"l":[0,2]})"),
            R"([{"op":"replace","path":"/l/0","value":0},{"op":"add","path":"/l/1","value":2}])");
}

// Small, so that both values often have something in common.
Json any_json(int depth) {
  int kind = *rc::gen::inRange(0, depth > 0 ? 6 : 4);
  if (kind == 0) return Json();
  if (kind == 1) return Json(*rc::gen::inRange(0, 3));
  if (kind == 2) return Json(*rc::gen::arbitrary<bool>());
  if (kind == 3) return Json(*rc::gen::element<std::string>("", "x", "/", "~"));
  int size = *rc::gen::inRange(0, 4);
  if (kind == 4) {
    Json::Array items;
    for (int i = 0; i < size; ++i) items.push_back(any_json(depth - 1));
    return items;
  }
  Json::Object members;
  for (int i = 0; i < size; ++i)
    members[*rc::gen::element<std::string>("a", "b", "", "/", "~1", "0")] = any_json(depth - 1);
  return members;
}

RC_GTEST_PROP(JsonDiff, ThePatchTurnsOneIntoTheOther, ()) {
  Json before = Json::Object{{"x", any_json(3)}};
  Json after = Json::Object{{"x", any_json(3)}};
  Result<Json> patched = apply_json_patch(before, json_patch_between(before, after));
  RC_ASSERT(patched.has_value());
  RC_ASSERT(patched->same_as(after));
}

}  // namespace
}  // namespace fairlead
