#include "yaml/internal/scalar.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

namespace fairlead::yaml {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

enum class Hint : uint8_t { text, word, dot, number };

constexpr std::array<Hint, 256> kHints = [] {
  std::array<Hint, 256> hints{};
  for (char c : {'y', 'Y', 'n', 'N', 't', 'T', 'f', 'F', 'o', 'O', '~'}) hints[size_t(c)] = Hint::word;
  for (char c = '0'; c <= '9'; ++c) hints[size_t(c)] = Hint::number;
  hints['+'] = hints['-'] = Hint::number;
  hints['.'] = Hint::dot;
  return hints;
}();

// true, True or TRUE for the lower-case word "true": the three spellings that count.
bool is_word(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  if (text == lower) return true;
  auto upper = [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; };
  size_t first = lower[0] == '.' || lower[0] == '+' || lower[0] == '-' ? lower.find_first_not_of("+-.") : 0;
  if (text.substr(0, first) != lower.substr(0, first) || text[first] != upper(lower[first])) return false;
  if (text.substr(first + 1) == lower.substr(first + 1)) return true;
  for (size_t i = first + 1; i < text.size(); ++i)
    if (text[i] != upper(lower[i])) return false;
  return true;
}

std::optional<Json> resolve_word(std::string_view text) {
  if (text.size() > 5) return std::nullopt;
  for (std::string_view word : {"true", "yes", "on", "y"})
    if (is_word(text, word)) return Json(true);
  for (std::string_view word : {"false", "no", "off", "n"})
    if (is_word(text, word)) return Json(false);
  if (text.empty() || text == "~" || is_word(text, "null")) return Json();
  return std::nullopt;
}

std::optional<Json> resolve_float_word(std::string_view text) {
  if (text.size() > 5) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return Json(std::numeric_limits<double>::quiet_NaN());
  if (is_word(text, ".inf") || is_word(text, "+.inf")) return Json(kInfinity);
  if (is_word(text, "-.inf")) return Json(-kInfinity);
  return std::nullopt;
}

// Base prefixes as in Go: 0x, 0o, 0b, or a bare 0 for octal.
std::optional<Json> parse_integer(std::string_view text) {
  bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    switch (text[1] | 0x20) {
      case 'x': base = 16; break;
      case 'o': base = 8; break;
      case 'b': base = 2; break;
      default: base = 0;
    }
    text.remove_prefix(base == 0 ? 1 : 2);
    if (base == 0) base = 8;
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  constexpr uint64_t kLowest = uint64_t{1} << 63;
  if (!negative) return Json(value);
  if (value > kLowest) return std::nullopt;
  return Json(static_cast<int64_t>(uint64_t{0} - value));
}

// Digits, a fraction, an exponent, at least one digit before the exponent; nothing like 0x1p4, "inf" or "1e".
bool looks_like_float(std::string_view text) {
  size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  auto digits = [&] {
    size_t start = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - start;
  };
  size_t whole = digits();
  size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits();
  }
  if (whole + fraction == 0) return false;
  if (at < text.size() && (text[at] | 0x20) == 'e') {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

std::optional<Json> parse_float(std::string_view text) {
  if (!looks_like_float(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) return Json(value);
  // Out of range: what is too small for a double is zero, what is too large stays text.
  value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(value) ? std::optional(Json(value)) : std::nullopt;
}

std::optional<Json> resolve_number(std::string_view text) {
  std::string stripped;
  if (text.find('_') != std::string_view::npos) {
    for (char c : text)
      if (c != '_') stripped += c;
    text = stripped;
  }
  if (auto value = parse_integer(text)) return value;
  return parse_float(text);
}

// What a plain scalar without a tag is; nothing if it is just text.
std::optional<Json> resolve_plain(std::string_view text) {
  Hint hint = text.empty() ? Hint::word : kHints[static_cast<unsigned char>(text[0])];
  switch (hint) {
    case Hint::text: return std::nullopt;
    case Hint::word: return resolve_word(text);
    case Hint::dot:
      if (auto value = resolve_float_word(text)) return value;
      return parse_float(text);
    case Hint::number:
      if (auto value = resolve_float_word(text)) return value;
      return resolve_number(text);
  }
  return std::nullopt;
}

bool take_number(std::string_view& text, size_t min_digits, size_t max_digits, int& value) {
  size_t size = 0;
  value = 0;
  while (size < text.size() && size < max_digits && text[size] >= '0' && text[size] <= '9')
    value = value * 10 + (text[size++] - '0');
  text.remove_prefix(size);
  return size >= min_digits;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// 2001-12-14, 2001-12-14T21:59:43.10-05:00, 2001-12-14 21:59:43.10
bool is_timestamp(std::string_view text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!take_number(text, 4, 4, year) || !take(text, '-') || !take_number(text, 1, 2, month) || !take(text, '-') ||
      !take_number(text, 1, 2, day))
    return false;
  if (!(std::chrono::year(year) / month / day).ok()) return false;
  if (text.empty()) return true;
  bool zoned = text[0] == 'T' || text[0] == 't';
  if (!zoned && text[0] != ' ') return false;
  text.remove_prefix(1);
  if (!take_number(text, 1, 2, hour) || !take(text, ':') || !take_number(text, 1, 2, minute) || !take(text, ':') ||
      !take_number(text, 1, 2, second) || hour > 23 || minute > 59 || second > 59)
    return false;
  if (take(text, '.')) {
    size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0) return false;
    text.remove_prefix(digits);
  }
  if (!zoned) return text.empty();
  if (text == "Z") return true;
  if (!take(text, '+') && !take(text, '-')) return false;
  return take_number(text, 2, 2, hour) && take(text, ':') && take_number(text, 2, 2, minute) && text.empty() &&
         hour <= 24 && minute <= 60;
}

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    unsigned char lead = static_cast<unsigned char>(text[i]);
    size_t size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)) return false;
    if (i + size > text.size()) return false;
    uint32_t code = size == 1 ? lead : lead & (0xff >> (size + 1));
    for (size_t k = 1; k < size; ++k) {
      unsigned char c = static_cast<unsigned char>(text[i + k]);
      if ((c & 0xc0) != 0x80) return false;
      code = code << 6 | (c & 0x3f);
    }
    if ((size == 3 && code < 0x800) || (size == 4 && code < 0x10000) || code > 0x10ffff ||
        (code >= 0xd800 && code < 0xe000))
      return false;
    i += size;
  }
  return true;
}

// Base64 with padding; line breaks within are skipped.
std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  size_t padding = 0;
  size_t symbols = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r') continue;
    ++symbols;
    if (c == '=') {
      ++padding;
      continue;
    }
    uint32_t value;
    if (c >= 'A' && c <= 'Z') value = uint32_t(c - 'A');
    else if (c >= 'a' && c <= 'z') value = uint32_t(c - 'a') + 26;
    else if (c >= '0' && c <= '9') value = uint32_t(c - '0') + 52;
    else if (c == '+') value = 62;
    else if (c == '/') value = 63;
    else return std::nullopt;
    if (padding) return std::nullopt;
    bits = bits << 6 | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  if (symbols % 4 != 0 || padding > 2) return std::nullopt;
  return out;
}

std::expected<Json, std::string> resolve_tagged(const Scalar& scalar, std::string_view type) {
  if (type == "str") return Json(scalar.text);
  if (type == "binary") {
    std::optional<std::string> bytes = decode_base64(scalar.text);
    if (!bytes) return std::unexpected("what is tagged !!binary must be base64");
    if (!is_utf8(*bytes)) return std::unexpected("what is tagged !!binary must be text in UTF-8: JSON has no bytes");
    return Json(std::move(*bytes));
  }
  if (type == "timestamp") {
    if (!is_timestamp(scalar.text)) return std::unexpected("what is tagged !!timestamp must be a date or a time");
    return Json(scalar.text);
  }
  if (type != "null" && type != "bool" && type != "int" && type != "float") return Json(scalar.text);
  std::optional<Json> value = resolve_plain(scalar.text);
  bool fits = value && ((type == "null" && value->is_null()) || (type == "bool" && value->is_bool()) ||
                        (type == "int" && value->is_integer()) ||
                        (type == "float" && (value->is_double() || value->is_int64())));
  if (!fits) {
    std::string_view what = value ? value->type_name() : "string";
    return std::unexpected(fmt::format("a{} {} is tagged !!{}", what == "integer" ? "n" : "", what, type));
  }
  if (const int64_t* integer = value->if_int64(); integer && type == "float") return Json(double(*integer));
  return std::move(*value);
}

// The shortest digits that read back as the same number, without the point, and the power of ten of the first.
struct Digits {
  std::string digits;
  int exponent = 0;
};
template <class Float>
Digits shortest_digits(Float value) {
  std::array<char, 64> buffer;
  auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  std::string_view text(buffer.data(), size_t(end - buffer.data()));
  size_t e = text.find('e');
  Digits result;
  for (char c : text.substr(0, e))
    if (c != '.') result.digits += c;
  std::string_view exponent = text.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), result.exponent);
  return result;
}

// Go's FormatFloat(value, 'g', -1, 32), which is how kubectl writes a key that is a float.
std::string format_key(float value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::string sign = std::signbit(value) ? "-" : "";
  auto [digits, exponent] = shortest_digits(std::abs(value));
  if (value == 0) return sign + "0";
  if (exponent < -4 || exponent >= 6) {
    std::string fraction = digits.size() > 1 ? "." + digits.substr(1) : "";
    return fmt::format("{}{}{}e{}{:02}", sign, digits[0], fraction, exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return sign + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  size_t whole = size_t(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0');
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

Json integral(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value != std::floor(value) || std::abs(value) >= 9223372036854775808.0) return Json(value);
  if (std::abs(value) <= kExact) return Json(static_cast<int64_t>(value));
  // Go writes the shortest digits and fills up with zeros, and those are what is read again.
  auto [digits, exponent] = shortest_digits(std::abs(value));
  digits.resize(size_t(exponent) + 1, '0');
  int64_t integer = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), integer);
  if (error != std::errc()) return Json(value);
  return Json(value < 0 ? -integer : integer);
}

}  // namespace

std::expected<Json, std::string> resolve(const Scalar& scalar) {
  if (scalar.tag.empty()) {
    if (!scalar.plain) return Json(scalar.text);
    std::optional<Json> value = resolve_plain(scalar.text);
    return value ? std::move(*value) : Json(scalar.text);
  }
  if (!scalar.tag.starts_with(kTagPrefix)) return Json(scalar.text);
  return resolve_tagged(scalar, scalar.tag.substr(kTagPrefix.size()));
}

std::expected<Json, std::string> as_value(Json resolved) {
  const double* number = resolved.if_double();
  if (!number) return resolved;
  if (!std::isfinite(*number))
    return std::unexpected("JSON has no infinity and no NaN; quote it if it is meant as text");
  return integral(*number);
}

std::expected<std::string, std::string> as_key(Json resolved) {
  if (std::string* text = resolved.if_string()) return std::move(*text);
  if (const int64_t* integer = resolved.if_int64()) return fmt::format("{}", *integer);
  if (const bool* boolean = resolved.if_bool()) return *boolean ? "true" : "false";
  if (const double* number = resolved.if_double()) return format_key(static_cast<float>(*number));
  if (resolved.is_uint64()) return std::unexpected("an integer this large cannot be a key; quote it");
  if (resolved.is_null()) return std::unexpected("null cannot be a key");
  return std::unexpected(fmt::format("an {} cannot be a key", resolved.type_name()));
}

void make_integral_doubles_integers(Json& value) {
  if (const double* number = value.if_double()) {
    value = integral(*number);
  } else if (Json::Array* array = value.if_array()) {
    for (Json& item : *array) make_integral_doubles_integers(item);
  } else if (Json::Object* object = value.if_object()) {
    for (Json::Member& member : *object) make_integral_doubles_integers(member.value);
  }
}

}  // namespace fairlead::yaml
