// Draws a live view on a terminal: lines that stay scroll away above it, and it never leaves anything behind.
//
// The cursor rests on the first column of the view, so that the view can be overwritten or erased whatever the user
// does to the window meanwhile: a terminal keeps the cursor at its text when lines are wrapped anew. One exception: a
// window that becomes narrower may push the first rows of the view off the screen, where nobody can erase them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/board.h"
#include "report/line.h"

namespace fairlead::report {

// Erases the view. It does not erase from the first column on: where that is the first one of the screen, tmux would
// keep what is erased, and show it again when the window becomes higher.
inline constexpr std::string_view kEraseView = "\r \033[J\r";

// Makes the bytes for the terminal. Pure.
class Frames {
 public:
  explicit Frames(bool colours) : colours_(colours) {}

  // Returns what to write so that `lines` stay on the terminal, followed by the view.
  std::string draw(const std::vector<Line>& lines, const std::vector<Line>& view);
  // Returns what to write so that the view is gone. Empty if there is none.
  std::string erase();

 private:
  std::string painted(const Line& line) const;

  bool colours_;
  bool is_drawn_ = false;
};

// Returns the size of the terminal; 80 × 24 if it does not tell.
Size size_of(int descriptor);
// True if the stream is a terminal that understands escape sequences.
bool is_terminal(int descriptor);
// True if text on that stream may have colours: it is a terminal, and NO_COLOR is not set.
bool has_colours(int descriptor);

// Returns the text of a line as it may be printed, without its colour. A line may contain line breaks.
std::string shown_text(const Line& line);
// The same with its colour.
std::string shown_text(const Line& line, bool colours);

}  // namespace fairlead::report
