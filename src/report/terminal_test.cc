#include "report/terminal.h"

#include <gtest/gtest.h>

namespace fairlead::report {
namespace {

TEST(Frames, AFrameIsDrawnOverTheLastOne) {
  Frames frames(false);
  EXPECT_EQ(frames.draw({}, {{.text = "head"}, {.text = "  a"}}),
            "\033[?7lhead\033[K\r\n  a\033[K\033[?7h\033[J\033[1A\r");
  EXPECT_EQ(frames.draw({}, {{.text = "HEAD"}}), "\r\033[?7lHEAD\033[K\033[?7h\033[J\r");
  EXPECT_EQ(frames.erase(), "\r \033[J\r");
  EXPECT_EQ(frames.erase(), "");
}

TEST(Frames, LinesStayAboveTheView) {
  Frames frames(false);
  (void)frames.draw({}, {{.text = "head"}});
  EXPECT_EQ(frames.draw({{.text = "done"}}, {{.text = "head"}}),
            "\r \033[J\rdone\r\n\033[?7lhead\033[K\033[?7h\033[J\r");
  EXPECT_EQ(frames.draw({{.text = "last"}}, {}), "\r \033[J\rlast\r\n\033[J");
  EXPECT_EQ(frames.draw({{.text = "more"}}, {}), "more\r\n");
}

TEST(Frames, OnlyOurEscapesReachTheTerminal) {
  Frames frames(true);
  EXPECT_EQ(frames.draw({{.text = "\033[2Jbad", .tone = Tone::bad}}, {}), "\033[31m\\x1b[2Jbad\033[0m\r\n");
  EXPECT_EQ(frames.draw({{.text = "warning: a\n  next      b", .tone = Tone::trouble, .is_problem = true}}, {}),
            "\033[33mwarning: a\r\n  next      b\033[0m\r\n");
}

}  // namespace
}  // namespace fairlead::report
