#include "report/internal/columns.h"

#include <gtest/gtest.h>

namespace fairlead::report {
namespace {

TEST(Columns, WideCharactersTakeTwoAndMarksNone) {
  EXPECT_EQ(columns_of("web"), 3U);
  EXPECT_EQ(columns_of("· →"), 3U);
  EXPECT_EQ(columns_of("港口"), 4U);
  EXPECT_EQ(columns_of("e\u0301"), 1U);
  EXPECT_EQ(columns_of("🚢"), 2U);
  EXPECT_EQ(columns_of("\xff"), 1U);
}

TEST(Columns, TextsAreCutByColumnsNotBytes) {
  EXPECT_EQ(cut_to("north-quay", 10), "north-quay");
  EXPECT_EQ(cut_to("north-quay", 6), "north…");
  EXPECT_EQ(cut_to("港口港口", 8), "港口港口");
  EXPECT_EQ(cut_to("港口港口", 6), "港口…");
  EXPECT_EQ(cut_to("港口港口", 5), "港口…");
  EXPECT_EQ(cut_to("abc", 1), "…");
  EXPECT_EQ(cut_to("abc", 0), "");
  EXPECT_EQ(padded_to("港", 4), "港  ");
  EXPECT_EQ(padded_to("abcdef", 4), "abc…");
}

}  // namespace
}  // namespace fairlead::report
