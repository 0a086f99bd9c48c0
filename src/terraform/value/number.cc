#include "terraform/value/number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace fairlead::terraform {
namespace {

// The exact value of a double has at most 767 digits that count.
constexpr size_t kMaxDigits = 2000;
constexpr int64_t kMaxExponent = 1'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Number::Number(int64_t value) : Number(value < 0 ? uint64_t{0} - uint64_t(value) : uint64_t(value)) {
  negative_ = value < 0;
}

Number::Number(uint64_t value) {
  if (value == 0) return;
  digits_ = std::to_string(value);
  exponent_ = int64_t(digits_.size());
  digits_.erase(digits_.find_last_not_of('0') + 1);
}

std::optional<Number> Number::parse(std::string_view text) {
  Number number;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    number.negative_ = text.front() == '-';
    text.remove_prefix(1);
  }
  bool has_digit = false;
  bool has_point = false;
  while (!text.empty() && (is_digit(text.front()) || (text.front() == '.' && !has_point))) {
    char c = text.front();
    text.remove_prefix(1);
    if (c == '.') {
      has_point = true;
      continue;
    }
    has_digit = true;
    bool leading_zero = number.digits_.empty() && c == '0';
    if (leading_zero) {
      if (has_point) --number.exponent_;
      continue;
    }
    if (number.digits_.size() == kMaxDigits) return std::nullopt;
    number.digits_ += c;
    if (!has_point) ++number.exponent_;
  }
  if (!has_digit) return std::nullopt;
  if (!text.empty()) {
    if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
    text.remove_prefix(1);
    if (text.starts_with("+")) text.remove_prefix(1);
    int64_t exponent = 0;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (exponent > kMaxExponent || exponent < -kMaxExponent) return std::nullopt;
    number.exponent_ += exponent;
  }
  number.digits_.erase(number.digits_.find_last_not_of('0') + 1);
  if (number.digits_.empty()) return Number();
  return number;
}

Number Number::exactly(double value) {
  char text[900];
  int size = std::snprintf(text, sizeof text, "%.800e", value);
  return parse({text, size_t(size)}).value_or(Number());
}

std::optional<uint64_t> Number::as_uint64() const {
  if (negative_ || exponent_ < int64_t(digits_.size()) || exponent_ > 20) return std::nullopt;
  std::string all = digits_;
  all.resize(size_t(exponent_), '0');
  if (all.empty()) return 0;
  uint64_t value = 0;
  auto [end, code] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (code != std::errc()) return std::nullopt;
  return value;
}

std::optional<int64_t> Number::as_int64() const {
  Number magnitude = *this;
  magnitude.negative_ = false;
  std::optional<uint64_t> value = magnitude.as_uint64();
  uint64_t most = uint64_t(INT64_MAX) + (negative_ ? 1 : 0);
  if (!value || *value > most) return std::nullopt;
  return negative_ ? int64_t(uint64_t{0} - *value) : int64_t(*value);
}

double Number::nearest_double() const { return std::strtod(text().c_str(), nullptr); }

std::optional<double> Number::as_exact_double() const {
  double value = nearest_double();
  if (!std::isfinite(value) || exactly(value) != *this) return std::nullopt;
  return value;
}

std::string Number::text() const {
  if (digits_.empty()) return "0";
  std::string sign = negative_ ? "-" : "";
  auto size = int64_t(digits_.size());
  if (exponent_ > 40 || exponent_ < -20) {
    std::string mantissa = digits_.substr(0, 1);
    if (size > 1) mantissa += "." + digits_.substr(1);
    int64_t power = exponent_ - 1;
    return sign + mantissa + (power < 0 ? "e-" : "e+") + std::to_string(std::abs(power));
  }
  if (exponent_ <= 0) return sign + "0." + std::string(size_t(-exponent_), '0') + digits_;
  if (exponent_ >= size) return sign + digits_ + std::string(size_t(exponent_ - size), '0');
  return sign + digits_.substr(0, size_t(exponent_)) + "." + digits_.substr(size_t(exponent_));
}

}  // namespace fairlead::terraform
