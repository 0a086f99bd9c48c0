#include "diff/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace fairlead::diff {
namespace {

std::string plain(std::string_view before, std::string_view after, size_t context = 3) {
  return unified(before, after, {.context = context, .before_name = "live", .after_name = "planned"});
}

TEST(LinesTest, EqualTextsHaveNoDiff) { EXPECT_EQ(plain("a\nb\n", "a\nb\n"), ""); }

TEST(LinesTest, AChangedLineIsShownWithItsContext) {
  EXPECT_EQ(plain("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", 2),
            "--- live\n+++ planned\n@@ -3,5 +3,5 @@\n 3\n 4\n-5\n+five\n 6\n 7\n");
}

TEST(LinesTest, ChangesThatAreFarApartHaveHunksOfTheirOwn) {
  EXPECT_EQ(plain("a\n1\n2\n3\nb\n", "A\n1\n2\n3\nB\n", 1),
            "--- live\n+++ planned\n@@ -1,2 +1,2 @@\n-a\n+A\n 1\n@@ -4,2 +4,2 @@\n 3\n-b\n+B\n");
  EXPECT_EQ(plain("a\n1\n2\nb\n", "A\n1\n2\nB\n", 1),
            "--- live\n+++ planned\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n-b\n+B\n");
}

TEST(LinesTest, NewAndRemovedTexts) {
  EXPECT_EQ(plain("", "a\nb\n"), "--- live\n+++ planned\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(plain("a\n", ""), "--- live\n+++ planned\n@@ -1 +0,0 @@\n-a\n");
}

TEST(LinesTest, NoContext) {
  EXPECT_EQ(plain("a\nb\nc\n", "a\nc\nd\n", 0), "--- live\n+++ planned\n@@ -2 +1,0 @@\n-b\n@@ -3,0 +3 @@\n+d\n");
}

TEST(LinesTest, RemovedLinesComeBeforeTheLinesThatReplaceThem) {
  EXPECT_EQ(plain("x\na\nb\ny\n", "x\nc\nd\ny\n", 1),
            "--- live\n+++ planned\n@@ -1,4 +1,4 @@\n x\n-a\n-b\n+c\n+d\n y\n");
}

TEST(LinesTest, WordsThatDifferAreMarkedInColour) {
  EXPECT_EQ(unified("image: web:1.0\n", "image: web:2.0\n", {.colours = true, .before_name = "a", .after_name = "b"}),
            "\033[1m--- a\033[0m\n\033[1m+++ b\033[0m\n\033[36m@@ -1 +1 @@\033[0m\n"
            "\033[31m-image: web:\033[7m1\033[27m.0\033[0m\n\033[32m+image: web:\033[7m2\033[27m.0\033[0m\n");
}

TEST(LinesTest, LinesWithLittleInCommonAreNotMarked) {
  EXPECT_EQ(unified("alpha beta\n", "gamma delta\n", {.colours = true, .before_name = "a", .after_name = "b"}),
            "\033[1m--- a\033[0m\n\033[1m+++ b\033[0m\n\033[36m@@ -1 +1 @@\033[0m\n"
            "\033[31m-alpha beta\033[0m\n\033[32m+gamma delta\033[0m\n");
}

TEST(LinesTest, TextFromElsewhereCannotAffectTheTerminal) {
  EXPECT_EQ(plain("a\n", "\033[2Jb\n"), "--- live\n+++ planned\n@@ -1 +1 @@\n-a\n+\\x1b[2Jb\n");
}

// Applies a diff to `before`, which has to give `after`.
std::string patched(std::string_view before, std::string_view after) {
  std::string from, to;
  for (const Line& line : compare_lines(before, after)) {
    if (line.kind != Line::Kind::added) from += std::string(line.text) + "\n";
    if (line.kind != Line::Kind::removed) to += std::string(line.text) + "\n";
  }
  EXPECT_EQ(from, before);
  return to;
}

TEST(LinesTest, ADiffLeadsFromOneTextToTheOther) {
  std::minstd_rand random(7);
  for (int round = 0; round < 300; ++round) {
    auto text = [&] {
      std::string lines;
      for (unsigned i = random() % 20; i > 0; --i) lines += std::string(1, char('a' + random() % 4)) + "\n";
      return lines;
    };
    std::string before = text(), after = text();
    EXPECT_EQ(patched(before, after), after) << before << "---\n" << after;
  }
}

TEST(LinesTest, LargeTextsWithLittleInCommonAreReplaced) {
  std::string before, after;
  for (int i = 0; i < 5000; ++i) {
    before += "before " + std::to_string(i) + "\n";
    after += "after " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(patched(before, after), after);
}

}  // namespace
}  // namespace fairlead::diff
