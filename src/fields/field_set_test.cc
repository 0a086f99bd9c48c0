#include "fields/field_set.h"

#include <gtest/gtest.h>

namespace fairlead::fields {
namespace {

FieldSet set_of(std::string_view fields_v1) {
  Result<Json> json = Json::parse(fields_v1);
  EXPECT_TRUE(json.has_value());
  Result<FieldSet> set = FieldSet::parse(*json);
  EXPECT_TRUE(set.has_value()) << (set ? "" : set.error().message());
  return set ? *set : FieldSet();
}

std::string problem(std::string_view fields_v1) {
  Result<FieldSet> set = FieldSet::parse(*Json::parse(fields_v1));
  return set ? "no error" : set.error().message();
}

Path path_of(std::initializer_list<std::string_view> names) {
  Path path;
  for (std::string_view name : names) path.push_back(PathElement::field(name));
  return path;
}

TEST(FieldSet, IsWrittenAsTheServerWritesIt) {
  std::string text =
      R"({"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{}}},"f:tags":{"v:\"x\"":{}}}})";
  EXPECT_EQ(set_of(text).dump().dump(), text);
}

TEST(FieldSet, IsSortedHoweverItCame) {
  EXPECT_EQ(set_of(R"({"v:1":{},"f:b":{"f:x":{}},"f:a":{},"v:1.0":{"f:y":{}}})").dump().dump(),
            R"({"f:a":{},"f:b":{"f:x":{}},"v:1":{".":{},"f:y":{}}})");
}

TEST(FieldSet, LeavesOutWhatALaterVersionAdded) {
  EXPECT_EQ(set_of(R"({"q:new":{"f:x":{}},"f:a":{"z:1":{}},"f:b":null})").dump().dump(), R"({"f:a":{},"f:b":{}})");
}

TEST(FieldSet, RefusesWhatIsNoSet) {
  EXPECT_EQ(problem(R"({"f:a":{"f:b":1}})"),
            "fieldsV1 cannot be read: below .a: below .b: a level of fieldsV1 is integer, not object");
  EXPECT_EQ(problem(R"({"x":{}})"),
            R"(fieldsV1 cannot be read: "x" is no path element: it does not start with a letter and a colon)");
}

TEST(FieldSet, KnowsItsMembers) {
  FieldSet set = set_of(R"({"f:a":{"f:b":{}},"f:c":{".":{},"f:d":{}}})");
  EXPECT_EQ(set.size(), 3u);
  EXPECT_FALSE(set.has(path_of({"a"})));
  EXPECT_TRUE(set.has(path_of({"a", "b"})));
  EXPECT_TRUE(set.has(path_of({"c"})));
  EXPECT_TRUE(set.has(path_of({"c", "d"})));
  EXPECT_FALSE(set.has(path_of({"c", "d", "e"})));
  EXPECT_FALSE(set.has(Path{}));
  std::vector<std::string> members;
  set.for_each([&](const Path& path) { members.push_back(text_of(path)); });
  EXPECT_EQ(members, (std::vector<std::string>{".c", ".a.b", ".c.d"}));
}

TEST(FieldSet, CanBeUnitedIntersectedAndReduced) {
  FieldSet one = set_of(R"({"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{}})");
  FieldSet two = set_of(R"({"f:a":{"f:y":{},"f:z":{}},"f:b":{"f:c":{}},"f:d":{}})");
  EXPECT_EQ(one.united(two).dump().dump(),
            R"({"f:a":{".":{},"f:x":{},"f:y":{},"f:z":{}},"f:b":{".":{},"f:c":{}},"f:d":{}})");
  EXPECT_EQ(one.intersected(two).dump().dump(), R"({"f:a":{"f:y":{}}})");
  EXPECT_EQ(one.without(two).dump().dump(), R"({"f:a":{".":{},"f:x":{}},"f:b":{}})");
  EXPECT_EQ(two.without(one).dump().dump(), R"({"f:a":{"f:z":{}},"f:b":{"f:c":{}},"f:d":{}})");
  // What lies below a member of the other goes with it.
  EXPECT_EQ(two.without_trees(one).dump().dump(), R"({"f:d":{}})");
}

TEST(FieldSet, GrowsByPaths) {
  FieldSet set;
  set.insert(path_of({"spec", "b"}));
  set.insert(path_of({"spec", "a"}));
  set.insert(path_of({"spec"}));
  set.insert(Path{});
  EXPECT_EQ(set.dump().dump(), R"({"f:spec":{".":{},"f:a":{},"f:b":{}}})");
}

TEST(FieldSet, TakesALargeLevelInAnyOrder) {
  Json::Object level;
  for (int i = 0; i < 50'000; ++i) level.append(fmt::format("f:{}", (i * 7919) % 50'000), Json::Object());
  Result<FieldSet> set = FieldSet::parse(level);
  ASSERT_TRUE(set.has_value());
  EXPECT_EQ(set->size(), 50'000u);
}

}  // namespace
}  // namespace fairlead::fields
