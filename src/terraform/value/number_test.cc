#include "terraform/value/number.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace fairlead::terraform {
namespace {

std::string text_of(std::string_view written) {
  std::optional<Number> number = Number::parse(written);
  return number ? number->text() : "nothing";
}

TEST(Number, KeepsEveryDigit) {
  EXPECT_EQ(text_of("0"), "0");
  EXPECT_EQ(text_of("-0.0"), "0");
  EXPECT_EQ(text_of("007"), "7");
  EXPECT_EQ(text_of("120"), "120");
  EXPECT_EQ(text_of("-0.050"), "-0.05");
  EXPECT_EQ(text_of("12.5e1"), "125");
  EXPECT_EQ(text_of("12345678901234567890123"), "12345678901234567890123");
  EXPECT_EQ(text_of("1e100"), "1e+100");
  EXPECT_EQ(text_of("1.25e-30"), "1.25e-30");
  EXPECT_EQ(text_of(".5"), "0.5");
}

TEST(Number, RefusesWhatIsNoNumber) {
  for (std::string_view text : {"", "-", ".", "1x", "e5", "1e", "1e99999999", "Inf", "NaN", "0x10", " 1", "1 "})
    EXPECT_EQ(text_of(text), "nothing") << text;
  EXPECT_EQ(text_of(std::string(3000, '9')), "nothing");
}

TEST(Number, EqualHoweverItIsWritten) {
  EXPECT_EQ(Number::parse("1.0"), Number(1));
  EXPECT_EQ(Number::parse("10e-1"), Number(1));
  EXPECT_NE(Number::parse("0.1"), Number::exactly(0.1));
  EXPECT_EQ(Number::parse("0.5"), Number::exactly(0.5));
}

TEST(Number, FitsIntegersAtTheirEdges) {
  EXPECT_EQ(Number::parse("9223372036854775807")->as_int64(), INT64_MAX);
  EXPECT_EQ(Number::parse("9223372036854775808")->as_int64(), std::nullopt);
  EXPECT_EQ(Number::parse("-9223372036854775808")->as_int64(), INT64_MIN);
  EXPECT_EQ(Number::parse("-9223372036854775809")->as_int64(), std::nullopt);
  EXPECT_EQ(Number::parse("18446744073709551615")->as_uint64(), UINT64_MAX);
  EXPECT_EQ(Number::parse("18446744073709551616")->as_uint64(), std::nullopt);
  EXPECT_EQ(Number::parse("1.5")->as_int64(), std::nullopt);
  EXPECT_EQ(Number::parse("-1")->as_uint64(), std::nullopt);
  EXPECT_EQ(Number(INT64_MIN).as_int64(), INT64_MIN);
}

TEST(Number, KnowsWhetherADoubleHoldsIt) {
  EXPECT_EQ(Number::parse("0.25")->as_exact_double(), 0.25);
  EXPECT_EQ(Number::parse("0.1")->as_exact_double(), std::nullopt);
  EXPECT_EQ(Number::parse("1e400")->as_exact_double(), std::nullopt);
  EXPECT_EQ(Number::parse("0.1")->nearest_double(), 0.1);
}

RC_GTEST_PROP(Number, ADoubleComesBackAsItWas, (double value)) {
  RC_PRE(std::isfinite(value));
  RC_ASSERT(Number::exactly(value).as_exact_double() == std::optional(value));
}

RC_GTEST_PROP(Number, ItsTextIsTheSameNumber, (int64_t digits, int8_t exponent)) {
  std::optional<Number> number = Number::parse(std::to_string(digits) + "e" + std::to_string(int(exponent)));
  RC_ASSERT(Number::parse(number->text()) == number);
}

}  // namespace
}  // namespace fairlead::terraform
