#include "schema/types/quantity.h"

#include <array>

namespace fairlead::schema {
namespace {

using Wide = __int128;
constexpr Wide kLimit = Wide(1) << 100;

enum class Style { decimal, binary, exponent };

struct Suffix {
  std::string_view text;
  Style style;
  int power;  // of 10, or of 1024
};

constexpr std::array<Suffix, 17> kSuffixes = {{{"", Style::decimal, 0},
                                               {"n", Style::decimal, -9},
                                               {"u", Style::decimal, -6},
                                               {"m", Style::decimal, -3},
                                               {"k", Style::decimal, 3},
                                               {"M", Style::decimal, 6},
                                               {"G", Style::decimal, 9},
                                               {"T", Style::decimal, 12},
                                               {"P", Style::decimal, 15},
                                               {"E", Style::decimal, 18},
                                               {"Ki", Style::binary, 1},
                                               {"Mi", Style::binary, 2},
                                               {"Gi", Style::binary, 3},
                                               {"Ti", Style::binary, 4},
                                               {"Pi", Style::binary, 5},
                                               {"Ei", Style::binary, 6},
                                               {"", Style::exponent, 0}}};

std::optional<Suffix> suffix_of(std::string_view text) {
  for (const Suffix& suffix : kSuffixes)
    if (suffix.text == text && suffix.style != Style::exponent) return suffix;
  // 1e3, 1E-3
  if (text.size() < 2 || text.size() > 4 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  bool minus = text[1] == '-';
  std::string_view digits = text.substr(minus || text[1] == '+' ? 2 : 1);
  int power = 0;
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  for (char c : digits) power = power * 10 + (c - '0');
  return Suffix{text, Style::exponent, minus ? -power : power};
}

std::string digits_of(Wide value) {
  if (value == 0) return "0";
  std::string out;
  for (; value > 0; value /= 10) out.insert(out.begin(), char('0' + int(value % 10)));
  return out;
}

// value * 10^scale, written with the largest suffix that leaves a whole number.
std::string decimal_text(Wide value, int scale, Style style) {
  if (value == 0) return "0";
  while (value % 10 == 0) value /= 10, ++scale;
  while (scale % 3 != 0 || scale > 18) value *= 10, --scale;
  if (style == Style::exponent) return scale == 0 ? digits_of(value) : digits_of(value) + "e" + std::to_string(scale);
  for (const Suffix& suffix : kSuffixes)
    if (suffix.style == Style::decimal && suffix.power == scale) return digits_of(value) + std::string(suffix.text);
  return {};
}

std::string binary_text(Wide value) {
  int power = 0;
  while (value != 0 && value % 1024 == 0 && power < 6) value /= 1024, ++power;
  for (const Suffix& suffix : kSuffixes)
    if (suffix.style == Style::binary && suffix.power == power) return digits_of(value) + std::string(suffix.text);
  return digits_of(value);
}

}  // namespace

std::optional<std::string> canonical_quantity(std::string_view text, bool whole_milli) {
  std::string sign;
  if (text.starts_with('+') || text.starts_with('-')) {
    if (text[0] == '-') sign = "-";
    text.remove_prefix(1);
  }
  size_t end = text.find_first_not_of("0123456789.");
  std::string_view number = text.substr(0, end);
  std::optional<Suffix> suffix = suffix_of(end == std::string_view::npos ? "" : text.substr(end));
  size_t point = number.find('.');
  if (!suffix || number.empty() || number == "." ||
      number.find('.', point == std::string_view::npos ? point : point + 1) != std::string_view::npos)
    return std::nullopt;

  Wide value = 0;
  int scale = 0;
  for (size_t i = 0; i < number.size(); ++i) {
    if (number[i] == '.') continue;
    value = value * 10 + (number[i] - '0');
    if (point != std::string_view::npos && i > point) --scale;
    if (value > kLimit / 1024 || scale < -20) return std::nullopt;
  }
  if (suffix->style == Style::binary)
    for (int i = 0; i < suffix->power; ++i)
      if ((value *= 1024) > kLimit) return std::nullopt;
  if (suffix->style != Style::binary) scale += suffix->power;
  if (scale > 18 || scale < -30) return std::nullopt;

  // Nothing is finer than a billionth; what is, counts as one more.
  for (int finest = whole_milli ? -3 : -9; scale < finest; ++scale) value = value / 10 + (value % 10 != 0);
  Wide whole = value;
  for (int i = scale; i < 0; ++i) whole = whole / 10 + (whole % 10 != 0);
  for (int i = scale; i > 0; --i)
    if ((whole *= 10) > kLimit) return std::nullopt;
  std::string out;
  if (suffix->style == Style::binary && whole >= 1024) out = binary_text(whole);
  else out = decimal_text(value, scale, suffix->style == Style::binary ? Style::decimal : suffix->style);
  return out == "0" ? out : sign + out;
}

}  // namespace fairlead::schema
