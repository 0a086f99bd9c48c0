#include "base/printable.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Printable, TextStaysAsItIs) {
  EXPECT_EQ(printable("webhook \"a\" → ügly 漢 🚢\n\tno"), "webhook \"a\" → ügly 漢 🚢\n\tno");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ALineStaysALine) { EXPECT_EQ(printable_line("a\nb\tc\x1b ü"), "a\\nb\\tc\\x1b ü"); }

TEST(Printable, WhatATerminalWouldObeyIsWrittenOut) {
  EXPECT_EQ(printable("denied\033[2J\033]0;title\a"), "denied\\x1b[2J\\x1b]0;title\\x07");
  EXPECT_EQ(printable("all is well\rerror"), "all is well\\x0derror");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  // The one-character form of an escape sequence.
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\u009b2J");
}

TEST(Printable, WhatTurnsWritingRoundIsWrittenOut) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u200fd"), "a\\u202eb\\u2066c\\u200fd");
}

TEST(Printable, BytesThatAreNoTextAreWrittenOut) {
  EXPECT_EQ(printable("a\xff"
                      "b\xc3"),
            "a\\xffb\\xc3");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a surrogate pair
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // an overlong form
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

}  // namespace
}  // namespace fairlead
