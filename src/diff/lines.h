// Finds the lines that differ between two texts, and writes them as a unified diff.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::diff {

struct Line {
  enum class Kind { kept, removed, added };
  Kind kind = Kind::kept;
  // Without the line feed. Points into the text that was compared.
  std::string_view text;
};

// Returns the lines of both texts in the order of a diff: removed lines come before the lines that replace them. Finds
// the shortest diff, unless the texts have very little in common.
std::vector<Line> compare_lines(std::string_view before, std::string_view after);

// Lines that belong together: changes, with the kept lines around them.
struct Hunk {
  size_t first = 0;  // index of its first line
  size_t count = 0;
  // The position in either text, counted from 1, and the number of lines there; as in "@@ -1,3 +1,4 @@".
  size_t before_at = 0, before_count = 0;
  size_t after_at = 0, after_count = 0;
};
std::vector<Hunk> hunks_of(const std::vector<Line>& lines, size_t context);

// A part of a line, and whether it differs from the line that it is compared with.
struct Part {
  std::string_view text;
  bool differs = false;
};
struct WordDiff {
  std::vector<Part> before;
  std::vector<Part> after;
};
// Compares two lines word by word. If they have little in common, no part is marked.
WordDiff compare_words(std::string_view before, std::string_view after);

struct UnifiedOptions {
  // The number of kept lines around each change.
  size_t context = 3;
  // Use colours, and mark the words that differ.
  bool colours = false;
  // The names of the two texts.
  std::string before_name = "before";
  std::string after_name = "after";
};
// Returns a unified diff; empty if the texts are equal. Text from elsewhere cannot affect the terminal.
std::string unified(std::string_view before, std::string_view after, const UnifiedOptions& options);

}  // namespace fairlead::diff
