#include "object/field_path.h"

#include <gtest/gtest.h>

namespace fairlead::object {
namespace {

TEST(FieldPath, ReadsAndWrites) {
  FieldPath path = *FieldPath::parse("spec.containers[0].name");
  EXPECT_EQ(path, (FieldPath{"spec", "containers", size_t{0}, "name"}));
  EXPECT_EQ(path.text(), "spec.containers[0].name");
  EXPECT_EQ(*FieldPath::parse(".spec.containers[0].name"), path);
  EXPECT_EQ(*FieldPath::parse("$.spec.containers[0].name"), path);
  EXPECT_EQ(*FieldPath::parse("spec['containers'][0][\"name\"]"), path);
  for (std::string_view text :
       {"", "a", "[0]", "a[0][1].b", R"(metadata.annotations["example.com/x"].y)", R"(["a\"b\\c"])", R"([""])"})
    EXPECT_EQ(FieldPath::parse(text)->text(), text);
  EXPECT_TRUE(FieldPath::parse("$")->empty());
  EXPECT_TRUE(FieldPath::parse(".")->empty());
  EXPECT_EQ(FieldPath{"a"}.child(size_t{3}).text(), "a[3]");
}

TEST(FieldPath, FindsWhatIsThere) {
  Json json = *Json::parse(R"({"spec":{"containers":[{"name":"x"},{"name":null}],"a.b":{"c":1}}})");
  auto get = [&](std::string_view path) { return FieldPath::parse(path)->get(json).dump(); };
  EXPECT_EQ(get("spec.containers[0].name"), "\"x\"");
  EXPECT_EQ(get("spec[\"a.b\"].c"), "1");
  EXPECT_EQ(get(""), json.dump());
  EXPECT_NE(FieldPath::parse("spec.containers[1].name")->find(json), nullptr);
  for (std::string_view path :
       {"spec.containers[2]", "spec.containers.name", "spec[0]", "x.y", "spec.containers[0].name.x"})
    EXPECT_EQ(FieldPath::parse(path)->find(json), nullptr) << path;
  EXPECT_EQ(get("x.y"), "null");
}

TEST(FieldPath, SaysWhatIsWrong) {
  auto problem = [](std::string_view text) { return FieldPath::parse(text).error().message(); };
  EXPECT_EQ(problem("a..b"), "field path \"a..b\": expected a key at character 3");
  EXPECT_EQ(problem("a."), "field path \"a.\": expected a key at character 3");
  EXPECT_EQ(problem("a[x]"), "field path \"a[x]\": expected an index or a quoted key at character 3");
  EXPECT_EQ(problem("a[-1]"), "field path \"a[-1]\": expected an index or a quoted key at character 3");
  EXPECT_EQ(problem("a[99999999999999999999]"),
            "field path \"a[99999999999999999999]\": expected an index or a quoted key at character 3");
  EXPECT_EQ(problem("a[1"), "field path \"a[1\": expected ']' at character 4");
  EXPECT_EQ(problem("a['b"), "field path \"a['b\": a quote is not closed at character 3");
  EXPECT_EQ(problem("a b"), "field path \"a b\": expected '.' or '[' at character 2");
}

}  // namespace
}  // namespace fairlead::object
