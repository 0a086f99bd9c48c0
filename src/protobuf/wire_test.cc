#include "protobuf/wire.h"

#include <gtest/gtest.h>

namespace fairlead::protobuf {
namespace {

TEST(Wire, WhatIsWrittenIsRead) {
  WireWriter inner;
  inner.text(1, "x");
  WireWriter writer;
  writer.number(1, 300);
  writer.number(2, 0);
  writer.set_number(3, 0);
  writer.flag(4, true);
  writer.bytes(5, "");
  writer.set_bytes(6, "");
  writer.message(7, inner);
  writer.message(8, WireWriter());
  EXPECT_EQ(writer.out(), std::string("\x08\xac\x02\x18\x00\x20\x01\x32\x00\x3a\x03\x0a\x01x\x42\x00", 16));

  std::vector<uint64_t> numbers;
  WireReader reader(writer.out(), "Test");
  while (!reader.at_end()) numbers.push_back(reader.next()->number);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{1, 3, 4, 6, 7, 8}));
}

TEST(Wire, LargeNumbersKeepTheirBits) {
  WireWriter writer;
  writer.number(1, static_cast<uint64_t>(int64_t{-1}));
  WireReader reader(writer.out(), "Test");
  EXPECT_EQ(static_cast<int64_t>(reader.next()->value), -1);
}

TEST(Wire, TextIsAlwaysUtf8) {
  WireWriter writer;
  writer.text(1, "a\xff\n\xc3\xa9");
  WireReader reader(writer.out(), "Test");
  EXPECT_EQ(reader.next()->bytes, "a\\xff\n\xc3\xa9");
}

TEST(Wire, BrokenBytesAreErrors) {
  for (std::string_view bytes : {"\x08",
                                 "\x0a\x05"
                                 "ab",
                                 "\x0b", "\x0c", "\x0f", "\x0d\x01"}) {
    WireReader reader(bytes, "Test");
    EXPECT_FALSE(reader.next());
  }
}

}  // namespace
}  // namespace fairlead::protobuf
