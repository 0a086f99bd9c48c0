#include "sandbox/kinds/selector_words.h"

#include <gtest/gtest.h>

namespace fairlead::sandbox {
namespace {

TEST(SelectorWords, AreThoseOfTheServer) {
  EXPECT_EQ(selector_flaw("a=b,c in (d,e),!f,g"), std::nullopt);
  EXPECT_EQ(selector_flaw("a b c"), "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
  EXPECT_EQ(selector_flaw("a in b"), "unable to parse requirement: found 'b' expected: '('");
  EXPECT_EQ(selector_flaw("a===b"), "unable to parse requirement: found '=', expected: identifier");
  EXPECT_EQ(selector_flaw("a=b,"), "found '', expected: identifier after ','");
}

}  // namespace
}  // namespace fairlead::sandbox
