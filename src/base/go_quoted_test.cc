#include "base/go_quoted.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(GoQuoted, WritesWhatCannotBeSeenAsGoDoes) {
  EXPECT_EQ(go_quoted("widget-1"), "\"widget-1\"");
  EXPECT_EQ(go_quoted("say \"hi\"\\\n\t"), R"("say \"hi\"\\\n\t")");
  EXPECT_EQ(go_quoted(std::string_view("\a\b\f\r\v\0\x1f\x7f", 8)), R"("\a\b\f\r\v\x00\x1f\x7f")");
  EXPECT_EQ(go_quoted("größe"), "\"größe\"");
}

}  // namespace
}  // namespace fairlead
