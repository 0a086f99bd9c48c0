#include "config/assignments.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

namespace fairlead::config {
namespace {

const AssignmentFlag kSet{.example = "a.b=1"};
const AssignmentFlag kSetString{.name = "--set-string", .example = "a.b=1", .is_text = true};

// The values after each of the texts, or the first error.
std::string set(const std::vector<std::string>& texts, const AssignmentFlag& flag = kSet,
                std::string_view before = "{}") {
  Json values = Json::parse(before).value();
  for (const std::string& text : texts) {
    auto assignments = parse_assignments(text, flag);
    if (!assignments) return assignments.error().message();
    for (const Assignment& one : *assignments)
      if (Result<void> done = assign(values, one); !done) return done.error().message();
  }
  return values.dump();
}

TEST(Assignments, AreWrittenAsForHelm) {
  EXPECT_EQ(set({"a.b=1,c=true", "a.d=x"}), R"({"a":{"b":1,"d":"x"},"c":true})");
  EXPECT_EQ(set({R"(nodeSelector.kubernetes\.io/os=linux)"}), R"({"nodeSelector":{"kubernetes.io/os":"linux"}})");
  EXPECT_EQ(set({R"(a["kubernetes.io/os"]=linux)"}), R"({"a":{"kubernetes.io/os":"linux"}})");
  EXPECT_EQ(set({R"(a=1\,2,b=x=y)"}), R"({"a":"1,2","b":"x=y"})");
  EXPECT_EQ(set({"a={1,two},b={}"}), R"({"a":[1,"two"],"b":[]})");
  EXPECT_EQ(set({"a[0].b=1,a[0].c=2,a[1]=x"}), R"({"a":[{"b":1,"c":2},"x"]})");
  EXPECT_EQ(set({"a=,b= "}), R"({"a":"","b":" "})");
  EXPECT_EQ(set({"a=null,b.c=null"}, kSet, R"({"a":1,"b":{"c":1,"d":2}})"), R"({"b":{"d":2}})");
}

TEST(Assignments, AsStringsKeepTheirText) {
  EXPECT_EQ(set({"a=1.20,b=true,c={1,null}"}, kSetString), R"({"a":"1.20","b":"true","c":["1","null"]})");
  EXPECT_EQ(parse_assignments("tag=1.20", kSet)->front().text, "1.20");
  EXPECT_FALSE(parse_assignments("tag={1.20}", kSet)->front().text);
}

TEST(Assignments, ThatAreNoneAreErrors) {
  EXPECT_EQ(parse_assignments("x", kSet).error().report(),
            "error: --set: \"x\" is not PATH=VALUE\n"
            "  next      write it like a.b=1; \\, is a comma in a value, and \\. a dot in a key\n");
  EXPECT_EQ(set({"a=fast,x"}), R"(--set: "x" is not PATH=VALUE)");
  EXPECT_EQ(set({"a=1,"}), R"(--set: "" is not PATH=VALUE)");
  EXPECT_EQ(set({"=1"}), R"(--set: "=1": a key is empty)");
  EXPECT_EQ(set({"a..b=1"}), R"(--set: "a..b=1": a key is empty)");
  EXPECT_EQ(set({"a={1"}), R"(--set: "a={1": the list is not closed by })");
  EXPECT_EQ(set({"a={1}x"}), R"(--set: "a={1}x": a list ends with }, and a comma or nothing follows it)");
  EXPECT_EQ(set({"a[x]=1"}), R"(--set: "a[x]=1": an item of a list is written [0])");
  EXPECT_EQ(set({"a[99999]=1"}), R"(--set: "a[99999]=1": an item of a list is written [0])");
  EXPECT_EQ(set({"[0]=1"}), R"(--set: "[0]=1": the values are a mapping, and have no item)");
  EXPECT_EQ(set({"a[1]=1"}), "a[1] cannot be set: a has 0 items");
  EXPECT_EQ(set({"a=1,a.b=2"}), "a.b cannot be set: a is no mapping");
  EXPECT_EQ(set({"a=1,a[0]=2"}), "a[0] cannot be set: a is no list");
}

TEST(Assignments, FromAnywhereAreReadOrRefused) {
  rc::check([](const std::string& text) {
    auto assignments = parse_assignments(text, kSet);
    if (!assignments) return;
    Json values = Json::Object();
    for (const Assignment& one : *assignments) (void)assign(values, one);
    RC_ASSERT(!assignments->empty());
  });
}

}  // namespace
}  // namespace fairlead::config
