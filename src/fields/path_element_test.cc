#include "fields/path_element.h"

#include <gtest/gtest.h>

namespace fairlead::fields {
namespace {

std::string again(std::string_view text) {
  Result<PathElement> element = PathElement::parse(text);
  return element ? element->dump() : element.error().message();
}

TEST(PathElement, IsWrittenAsItWasRead) {
  for (std::string_view text : {"f:spec", "f:", "f:a.b/c", "f:<", "i:3", "i:-1", R"(v:"x")", "v:1", "v:1.5", "v:true",
                                "v:null", R"(k:{"name":"c"})", R"(k:{"containerPort":80,"protocol":"TCP"})", "k:{}"})
    EXPECT_EQ(again(text), text);
}

TEST(PathElement, HasOneFormForOneElement) {
  EXPECT_EQ(again(R"(k:{"b":1.0,"a":2})"), R"(k:{"a":2,"b":1})");
  EXPECT_EQ(again("v:1e2"), "v:100");
  // Within a value, the characters of HTML are escaped, as the server does.
  EXPECT_EQ(again(R"(v:"<a>&")"), R"(v:"\u003ca\u003e\u0026")");
  EXPECT_EQ(*PathElement::parse(R"(v:"\u003c")"), *PathElement::parse(R"(v:"<")"));
}

TEST(PathElement, RefusesWhatIsNone) {
  EXPECT_EQ(again(""), R"("" is no path element: it does not start with a letter and a colon)");
  EXPECT_EQ(again("spec"), R"("spec" is no path element: it does not start with a letter and a colon)");
  EXPECT_EQ(again("i:x"), R"("i:x" is no path element: the position is no whole number)");
  EXPECT_EQ(again("k:[]"), R"("k:[]" is no path element: the keys of a list item are no object)");
  EXPECT_EQ(PathElement::parse("q:later").error().kind(), ErrorKind::not_found);
  EXPECT_EQ(PathElement::parse("v:" + std::string(100, '[') + std::string(100, ']')).error().kind(),
            ErrorKind::invalid);
}

TEST(PathElement, IsShownAsInConflicts) {
  Path path = {PathElement::field("spec"), PathElement::key({{"protocol", "TCP"}, {"port", 80}}),
               PathElement::value("a\"b"), PathElement::index(2), PathElement::value(true)};
  EXPECT_EQ(text_of(path), R"(.spec[port=80,protocol="TCP"][="a\"b"][2][=true])");
}

TEST(PathElement, IsOrderedByKindAndThenByContent) {
  std::vector<PathElement> sorted = {PathElement::field("a"),
                                     PathElement::field("b"),
                                     PathElement::key({{"a", 1}}),
                                     PathElement::key({{"a", 1}, {"b", 1}}),
                                     PathElement::key({{"a", 2}}),
                                     PathElement::key({{"a", "1"}}),
                                     PathElement::value(1),
                                     PathElement::value(1.5),
                                     PathElement::value(2),
                                     PathElement::value("a"),
                                     PathElement::value(false),
                                     PathElement::value(true),
                                     PathElement::value(Json::Array{1}),
                                     PathElement::value(Json::Object{{"a", 1}}),
                                     PathElement::value(nullptr),
                                     PathElement::index(1),
                                     PathElement::index(10)};
  for (size_t i = 0; i < sorted.size(); ++i)
    for (size_t j = 0; j < sorted.size(); ++j)
      EXPECT_EQ(sorted[i] <=> sorted[j], i <=> j) << sorted[i].text() << " and " << sorted[j].text();
}

TEST(CompareValues, SeesNumbersAndObjectsAsTheServerDoes) {
  EXPECT_TRUE(equal_values(1, 1.0));
  EXPECT_TRUE(equal_values(Json::Object{{"a", 1}, {"b", 2}}, Json::Object{{"b", 2}, {"a", 1}}));
  EXPECT_FALSE(equal_values(Json::Object{{"a", 1}}, Json::Object{{"a", 1}, {"b", nullptr}}));
  EXPECT_FALSE(equal_values(1, "1"));
  EXPECT_TRUE(equal_values(UINT64_MAX, UINT64_MAX));
}

}  // namespace
}  // namespace fairlead::fields
