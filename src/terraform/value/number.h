// A number exactly as Terraform has it: any number of decimal digits, never rounded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::terraform {

class Number {
 public:
  Number() : Number(int64_t{0}) {}
  Number(int value) : Number(int64_t{value}) {}
  Number(int64_t value);
  Number(uint64_t value);
  // The exact value of the double, which must be finite.
  static Number exactly(double value);
  // "12", "-0.5", "1e100". Nothing if the text is no decimal number, or has thousands of digits.
  static std::optional<Number> parse(std::string_view text);

  // Nothing where the number has a fraction or does not fit.
  std::optional<int64_t> as_int64() const;
  std::optional<uint64_t> as_uint64() const;
  // Nothing unless a double holds exactly this number.
  std::optional<double> as_exact_double() const;
  double nearest_double() const;

  // Without an exponent where that is short: "12", "0.5", "1e+100".
  std::string text() const;

  bool operator==(const Number&) const = default;

 private:
  // 0.DIGITS times ten to the power of `exponent`; the digits neither start nor end with a zero. No digits: zero.
  bool negative_ = false;
  std::string digits_;
  int64_t exponent_ = 0;
};

}  // namespace fairlead::terraform
