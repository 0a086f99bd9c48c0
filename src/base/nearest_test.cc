#include "base/nearest.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Nearest, CountsWhatHasToBeChanged) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("prun", "prune"), 1u);
  EXPECT_EQ(edit_distance("prnue", "prune"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, IsTheClosestWordOrNone) {
  std::vector<std::string> words = {"replicas", "revisionHistoryLimit", "selector", "paused"};
  EXPECT_EQ(nearest("replica", words), "replicas");
  EXPECT_EQ(nearest("Selectors", words), "selector");
  EXPECT_EQ(nearest("revisionHistorylimit", words), "revisionHistoryLimit");
  EXPECT_EQ(nearest("template", words), std::nullopt);
  EXPECT_EQ(nearest("", words), std::nullopt);
  EXPECT_EQ(nearest("ab", {"cd"}), std::nullopt);
}

}  // namespace
}  // namespace fairlead
