#include "base/internal/json_fast.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

bool is_left_to_the_other(std::string_view text, Json::Limits limits = {}) { return !parse_fast(text, limits); }

TEST(JsonFast, ReadsWhatTheOtherReaderReads) {
  for (std::string_view text :
       {R"({"a":1,"b":[true,false,null],"c":{"d":"x"},"":{}})", " [ 1 , -2 ,\n0.5e-3,1E+2, -0, 18446744073709551615 ] ",
        R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\u0000")", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"", "[]", "{}", "7",
        "\"\"", "null", "[[[[]]]]", "-9223372036854775808"}) {
    std::optional<Json> fast = parse_fast(text, {});
    ASSERT_TRUE(fast) << text;
    EXPECT_EQ(*fast, Json::parse_first(text, {})->value) << text;
  }
}

TEST(JsonFast, LeavesWhatIsWrongToTheOtherReader) {
  for (std::string_view text : {"",
                                " ",
                                "{",
                                "[1",
                                "[1,]",
                                "{\"a\"}",
                                "{\"a\":}",
                                "{\"a\":1,}",
                                "{a:1}",
                                "nul",
                                "tru",
                                "01",
                                "-",
                                "1.",
                                ".5",
                                "1e",
                                "+1",
                                "1 2",
                                "\"",
                                "\"\\",
                                "\"\\x\"",
                                "\"\\u12\"",
                                "\"\\ud800\"",
                                "\"\\u+123\"",
                                "\"\x01\"",
                                "\"\xff\"",
                                "\"\xc3\"",
                                "\"\xe0\x80\x80\"",
                                "\"\xed\xa0\x80\"",
                                "\"\xf4\x90\x80\x80\"",
                                "\"\xc0\x80\"",
                                "1e999",
                                "0e999",
                                "{\"a\":1,\"a\":2}"})
    EXPECT_TRUE(is_left_to_the_other(text)) << text;
}

TEST(JsonFast, KeepsTheLimits) {
  EXPECT_FALSE(is_left_to_the_other("[[1]]", {.depth = 2}));
  EXPECT_TRUE(is_left_to_the_other("[[1]]", {.depth = 1}));
  EXPECT_FALSE(is_left_to_the_other("[1,2]", {.values = 3}));
  EXPECT_TRUE(is_left_to_the_other("[1,2]", {.values = 2}));
  EXPECT_TRUE(is_left_to_the_other(std::string(300, '['), {.depth = 1000}));
}

TEST(JsonFast, FindsAKeyThatComesTwiceAmongMany) {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += fmt::format("\"a-longer-key-{}\":{},", i, i);
  EXPECT_FALSE(is_left_to_the_other(text + "\"x\":0}"));
  EXPECT_TRUE(is_left_to_the_other(text + "\"a-longer-key-500\":0}"));
}

}  // namespace
}  // namespace fairlead
