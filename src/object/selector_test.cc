#include "object/selector.h"

#include <gtest/gtest.h>

namespace fairlead::object {
namespace {

bool matches(std::string_view selector, std::string_view labels) {
  Result<Selector> parsed = Selector::parse(selector);
  EXPECT_TRUE(parsed) << selector << ": " << (parsed ? "" : parsed.error().message());
  return parsed && parsed->matches(*Json::parse(labels));
}

std::string problem(std::string_view selector) {
  Result<Selector> parsed = Selector::parse(selector);
  return parsed ? "no error" : parsed.error().message();
}

TEST(Selector, MatchesAsKubectlDoes) {
  constexpr std::string_view kWeb = R"({"app":"web","tier":"a","rank":"7","empty":""})";
  for (std::string_view yes :
       {"", " ", "app=web", "app==web", "app = web , tier=a", "app!=api", "missing!=x", "app", "!missing",
        "app in (web,api)", "app in (api, web)", "tier notin (b,c)", "missing notin (x)", "empty=", "empty in ()",
        "empty in (,x)", "rank>3", "rank<8", "app in (web),!x,tier"})
    EXPECT_TRUE(matches(yes, kWeb)) << yes;
  for (std::string_view no : {"app=api", "app!=web", "missing", "!app", "app in (api)", "tier notin (a,b)", "missing=",
                              "app=", "rank>7", "rank<7", "app>1", "missing>1", "missing in (x)", "app=web,tier=b"})
    EXPECT_FALSE(matches(no, kWeb)) << no;
  EXPECT_TRUE(matches("!app", "null"));
  EXPECT_FALSE(matches("app", "null"));
  // Words that are operators elsewhere.
  EXPECT_TRUE(matches("in in (in,notin)", R"({"in":"notin"})"));
  EXPECT_TRUE(matches("in", R"({"in":"x"})"));
}

TEST(Selector, WritesWhatItReads) {
  for (std::string_view text :
       {"", "app=web", "app!=web", "app", "!app", "app in (a,b)", "app notin (a,b)", "n>3,n<9", "a=,b"})
    EXPECT_EQ(Selector::parse(text)->text(), text);
  EXPECT_EQ(Selector::parse(" app in ( b , a,b ) ,x == y")->text(), "app in (a,b),x=y");
}

TEST(Selector, SaysWhatIsWrong) {
  EXPECT_EQ(problem("app=web,"), "selector \"app=web,\": found the end, expected a label");
  EXPECT_EQ(problem(",app"), "selector \",app\": found ',', expected a label");
  EXPECT_EQ(problem("app web"), "selector \"app web\": found 'web', expected in, notin, =, ==, !=, > or <");
  EXPECT_EQ(problem("app in web"), "selector \"app in web\": found 'web', expected '('");
  EXPECT_EQ(problem("app in (web"), "selector \"app in (web\": found the end, expected ',' or ')'");
  EXPECT_EQ(problem("app=a b"), "selector \"app=a b\": found 'b', expected ',' or the end");
  EXPECT_EQ(problem("!app=a"), "selector \"!app=a\": found '=', expected ',' or the end");
  EXPECT_EQ(problem("app=(a)"), "selector \"app=(a)\": found '(', expected a value");
  EXPECT_EQ(problem("n>x"), "selector \"n>x\" is not valid: label \"n\": > and < need an integer");
  EXPECT_EQ(problem("a/b/c=x"),
            "selector \"a/b/c=x\" is not valid: label \"a/b/c\": a name has letters, digits, '-', '_' and '.', and "
            "starts and "
            "ends with a letter or digit");
  EXPECT_EQ(
      problem("UP.com/x"),
      "selector \"UP.com/x\" is not valid: label \"UP.com/x\": what comes before '/' must be a DNS name in lower case");
  EXPECT_EQ(problem("a=-x"),
            "selector \"a=-x\" is not valid: label value \"-x\": it has letters, digits, '-', '_' and '.', and starts "
            "and ends "
            "with a letter or digit");
  std::string long_name(64, 'a');
  EXPECT_EQ(problem(long_name), "selector \"" + long_name + "\" is not valid: label \"" + long_name +
                                    "\": a name has at most 63 characters");
}

bool selects(std::string_view selector, std::string_view labels) {
  return Selector::from_json(*Json::parse(selector))->matches(*Json::parse(labels));
}

TEST(Selector, ReadsALabelSelector) {
  EXPECT_TRUE(selects("{}", R"({"a":"b"})"));
  EXPECT_TRUE(selects("{}", "null"));
  EXPECT_FALSE(selects("null", R"({"a":"b"})"));
  EXPECT_TRUE(selects(R"({"matchLabels":{"a":"b"}})", R"({"a":"b","c":"d"})"));
  EXPECT_FALSE(selects(R"({"matchLabels":{"a":"b","x":"y"}})", R"({"a":"b"})"));
  constexpr std::string_view kAll = R"({"matchExpressions":[{"key":"a","operator":"In","values":["b","c"]},
      {"key":"d","operator":"NotIn","values":["e"]},{"key":"f","operator":"Exists"},{"key":"g","operator":"DoesNotExist"}]})";
  EXPECT_TRUE(selects(kAll, R"({"a":"c","f":"x"})"));
  EXPECT_FALSE(selects(kAll, R"({"a":"c","d":"e","f":"x"})"));
  EXPECT_FALSE(selects(kAll, R"({"a":"c","f":"x","g":""})"));
  EXPECT_EQ(Selector::from_json(*Json::parse(kAll))->text(), "a in (b,c),d!=e,f,!g");
  EXPECT_TRUE(Selector::from_json(Json())->matches_nothing());
  EXPECT_TRUE(Selector::from_json(Json(Json::Object()))->matches_everything());

  auto wrong = [](std::string_view json) { return Selector::from_json(*Json::parse(json)).error().message(); };
  EXPECT_EQ(wrong("[]"), "a label selector must be an object");
  EXPECT_EQ(wrong(R"({"matchLabels":{"a":1}})"), "matchLabels: the value of a must be a string");
  EXPECT_EQ(wrong(R"({"matchExpressions":[{"key":"a","operator":"Is"}]})"),
            "matchExpressions: operator \"Is\" must be In, NotIn, Exists or DoesNotExist");
  EXPECT_EQ(wrong(R"({"matchExpressions":[{"key":"a","operator":"In"}]})"), "label \"a\": In and NotIn need values");
  EXPECT_EQ(wrong(R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]})"),
            "label \"a\": Exists and DoesNotExist take no values");
}

TEST(Selector, ReadsThatOfAService) {
  EXPECT_TRUE(Selector::from_service(*Json::parse(R"({"a":"b"})"))->matches(*Json::parse(R"({"a":"b","c":"d"})")));
  EXPECT_FALSE(Selector::from_service(*Json::parse(R"({"a":"b"})"))->matches(*Json::parse(R"({"a":"c"})")));
  EXPECT_TRUE(Selector::from_service(Json())->matches_nothing());
  EXPECT_TRUE(Selector::from_service(Json(Json::Object()))->matches_nothing());
}

}  // namespace
}  // namespace fairlead::object
