#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Json parsed(std::string_view text) {
  Result<Json> json = Json::parse(text);
  EXPECT_TRUE(json.has_value()) << (json ? "" : json.error().message());
  return json ? *json : Json();
}

std::string problem(std::string_view text, Json::Limits limits = {}) {
  Result<Json> json = Json::parse(text, limits);
  return json ? "no error" : json.error().message();
}

TEST(Json, KeepsTheKindsOfNumbersApart) {
  Json json = parsed(R"([1, -9223372036854775808, 9223372036854775808, 18446744073709551615, 1.0, 1e3, 0.75])");
  EXPECT_TRUE(json.item(0).is_int64());
  EXPECT_TRUE(json.item(1).is_int64());
  EXPECT_TRUE(json.item(2).is_uint64());
  EXPECT_TRUE(json.item(3).is_uint64());
  EXPECT_TRUE(json.item(4).is_double());
  EXPECT_TRUE(json.item(5).is_double());
  EXPECT_EQ(json.dump(), "[1,-9223372036854775808,9223372036854775808,18446744073709551615,1.0,1000.0,0.75]");
  EXPECT_EQ(parsed(json.dump()), json);
}

TEST(Json, NumbersAtTheEdges) {
  EXPECT_EQ(parsed("[0e-324, 1e-400, -1e-400, 5e-324, 1.7976931348623157e308]").dump(),
            "[0.0,0.0,-0.0,5e-324,1.7976931348623157e+308]");
  EXPECT_EQ(parsed("[-0, -0.0, 123456789012345678901234567890]").dump(), "[0,-0.0,1.2345678901234568e+29]");
  EXPECT_THAT(problem("[1e309]"), HasSubstr("Number too big to be stored in double"));
  EXPECT_THAT(problem("[-1e99999999999]"), HasSubstr("Number too big to be stored in double"));
  for (std::string_view bad : {"01", "+1", ".5", "1.", "1e", "-", "0x1", "1_0", "NaN", "Infinity"})
    EXPECT_FALSE(Json::parse(bad)) << bad;
}

TEST(Json, KeepsTheOrderOfMembers) {
  std::string text = R"({"zebra":1,"apple":{"b":[],"a":{}},"mango":null})";
  EXPECT_EQ(parsed(text).dump(), text);
}

TEST(Json, SameAsIgnoresTheOrderOfMembersOnly) {
  EXPECT_TRUE(parsed(R"({"a":1,"b":[{"c":2,"d":3}]})").same_as(parsed(R"({"b":[{"d":3,"c":2}],"a":1})")));
  EXPECT_FALSE(parsed(R"([1,2])").same_as(parsed(R"([2,1])")));
  EXPECT_FALSE(parsed(R"({"a":1,"b":2})").same_as(parsed(R"({"a":1,"c":2})")));
  EXPECT_FALSE(parsed("1").same_as(parsed("1.0")));
}

TEST(Json, WritesStringsThatReadBack) {
  std::string text = "quote \" backslash \\ newline \n tab \t bell \a umlaut \xc3\xbc";
  EXPECT_EQ(Json(text).dump(), R"("quote \" backslash \\ newline \n tab \t bell \u0007 umlaut )"
                               "\xc3\xbc\"");
  EXPECT_EQ(parsed(Json(text).dump()), Json(text));
}

TEST(Json, WalksDownWithoutFailing) {
  Json json = parsed(R"({"metadata":{"name":"x"},"items":[{"a":true}]})");
  EXPECT_EQ(json["metadata"]["name"].string_or(""), "x");
  EXPECT_TRUE(json["items"].item(0)["a"].bool_or(false));
  EXPECT_TRUE(json["items"].item(7)["spec"]["x"].is_null());
}

TEST(Json, PrettyIsIndentedByTwo) {
  EXPECT_EQ(parsed(R"({"a":[1,{"b":[]}],"c":{}})").pretty(), R"({
  "a": [
    1,
    {
      "b": []
    }
  ],
  "c": {}
}
)");
}

TEST(Json, ErrorsHaveLineAndColumn) {
  EXPECT_EQ(problem("{\n  \"a\": tru\n}"), "not valid JSON: Invalid value (line 2, column 11)");
  EXPECT_EQ(problem(""), "not valid JSON: there is nothing in it (line 1, column 1)");
  EXPECT_EQ(problem("{} x"), "not valid JSON: something follows the value (line 1, column 4)");
  EXPECT_EQ(problem(R"({"a":1,"a":2})"), "not valid JSON: key \"a\" comes twice in one object (line 1, column 13)");
  EXPECT_THAT(problem(std::string_view("{}\0{}", 5)), HasSubstr("NUL"));
  EXPECT_THAT(problem("\"\xff\""), HasSubstr("Invalid encoding"));
  EXPECT_THAT(problem(R"("\ude00")"), HasSubstr("half of a surrogate pair is missing"));
  EXPECT_THAT(problem(R"({"\ud74d\udfff":1})"), HasSubstr("half of a surrogate pair is missing"));
}

TEST(Json, IsLenientAboutRepeatedKeysWhereAskedTo) {
  std::string_view text = R"({"a":{"x":1,"y":{"p":1}},"b":1,"a":{"y":{"q":2}},"c":[0,{"d":1,"d":2,"d":3}],"b":{}})";
  Result<Json::Lenient> merged = Json::parse_lenient(text, Json::Repeats::merged);
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->value.dump(), R"({"a":{"x":1,"y":{"p":1,"q":2}},"b":{},"c":[0,{"d":3}]})");
  EXPECT_THAT(merged->repeated, ElementsAre("c[1].d", "a", "b"));
  Result<Json::Lenient> last = Json::parse_lenient(text, Json::Repeats::last);
  ASSERT_TRUE(last) << last.error().message();
  EXPECT_EQ(last->value.dump(), R"({"a":{"y":{"q":2}},"b":{},"c":[0,{"d":3}]})");
  EXPECT_EQ(Json::parse_lenient("{} x", Json::Repeats::last).error().what(),
            "not valid JSON: something follows the value (line 1, column 4)");
  std::string many = "{";
  for (int i = 0; i < 1000; ++i) many += fmt::format("\"k{}\":0,", i % 500);
  Result<Json::Lenient> bounded = Json::parse_lenient(many + "\"z\":0}", Json::Repeats::last);
  ASSERT_TRUE(bounded);
  EXPECT_EQ(bounded->value.members().size(), 501u);
  EXPECT_EQ(bounded->repeated.size(), 100u);
}

TEST(Json, HasLimits) {
  EXPECT_EQ(problem("[[[1]]]", {.bytes = 100, .depth = 2}),
            "too large as JSON: nested deeper than 2 levels (line 1, column 3)");
  EXPECT_EQ(problem("[1,[2],3]", {.values = 4}), "too large as JSON: more than 4 values (line 1, column 9)");
  EXPECT_TRUE(Json::parse("[1,[2],3]", {.values = 5}));
  EXPECT_EQ(problem("[1,2,3]", {.bytes = 3, .depth = 9}), "JSON of 7 bytes is over the limit of 3 bytes");
  // A bomb of a million brackets costs nothing.
  EXPECT_THAT(problem(std::string(1'000'000, '[')), HasSubstr("nested deeper than 200 levels"));
}

TEST(Json, ReadsTheFirstOfSeveralValues) {
  auto first = Json::parse_first(" {\"a\":1} {\"b\"", {});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->value.dump(), R"({"a":1})");
  EXPECT_EQ(first->size, 8u);
  auto flaw = Json::parse_first("[1,\n2,x]", {});
  ASSERT_FALSE(flaw);
  EXPECT_EQ(flaw.error().what, "Invalid value");
  EXPECT_EQ(flaw.error().offset, 6u);
  EXPECT_EQ(Json::parse_first("[1,2,3]", {.bytes = 4, .depth = 9}).error().what, "larger than the limit of 4 bytes");
}

TEST(Json, FindsARepeatedKeyAmongMany) {
  std::string text = "{";
  for (int i = 0; i < 50'000; ++i) text += fmt::format("\"k{}\":{},", i, i);
  EXPECT_THAT(problem(text + "\"k7\":0}"), HasSubstr("\"k7\" comes twice"));
}

}  // namespace
}  // namespace fairlead
