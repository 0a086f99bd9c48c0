#include "report/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/colours.h"
#include "base/printable.h"

namespace fairlead::report {
namespace {

constexpr std::string_view kEraseBelow = "\033[J";
constexpr std::string_view kEraseRestOfLine = "\033[K";
// A terminal may be narrower than it says: some report a new size only after a while. A line of the view that is too
// long then has to be cut, since with a second row the cursor would not get back to the view's first one.
constexpr std::string_view kCutLines = "\033[?7l";
constexpr std::string_view kWrapLines = "\033[?7h";

}  // namespace

std::string shown_text(const Line& line) { return line.is_problem ? printable(line.text) : printable_line(line.text); }

std::string shown_text(const Line& line, bool colours) {
  std::string_view colour = colours ? colour_of(line.tone) : "";
  std::string text = shown_text(line);
  return colour.empty() ? text : fmt::format("{}{}{}", colour, text, colours::kPlain);
}

std::string Frames::painted(const Line& line) const { return shown_text(line, colours_); }

std::string Frames::draw(const std::vector<Line>& lines, const std::vector<Line>& view) {
  std::string bytes = is_drawn_ ? "\r" : "";
  // Lines that stay may be wider than the window, so that the view is erased before they are printed.
  if (is_drawn_ && !lines.empty()) bytes = kEraseView;
  for (const Line& line : lines) {
    for (char c : painted(line)) bytes += c == '\n' ? std::string("\r\n") : std::string(1, c);
    bytes += "\r\n";
  }
  for (size_t i = 0; i < view.size(); ++i)
    bytes += fmt::format("{}{}{}", i == 0 ? kCutLines : "\r\n", painted(view[i]), kEraseRestOfLine);
  if (!view.empty()) bytes += kWrapLines;
  if (is_drawn_ || !view.empty()) bytes += kEraseBelow;
  if (view.size() > 1) bytes += fmt::format("\033[{}A", view.size() - 1);
  bytes += view.empty() ? "" : "\r";
  is_drawn_ = !view.empty();
  return bytes;
}

std::string Frames::erase() {
  if (!is_drawn_) return "";
  is_drawn_ = false;
  return std::string(kEraseView);
}

Size size_of(int descriptor) {
  winsize size{};
  bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
  return is_known ? Size{.width = size.ws_col, .height = size.ws_row} : Size{};
}

bool is_terminal(int descriptor) {
  const char* terminal = std::getenv("TERM");
  bool is_dumb = !terminal || *terminal == '\0' || std::string_view(terminal) == "dumb";
  return ::isatty(descriptor) && !is_dumb;
}

bool has_colours(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_terminal(descriptor) && (!no_colour || *no_colour == '\0');
}

}  // namespace fairlead::report
