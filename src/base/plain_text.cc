#include "base/plain_text.h"

#include <cstdint>

namespace fairlead {
namespace {

// The length of the well-formed, printable character at the start; 0 where there is none.
size_t printable_length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  size_t length = first >= 0xf0 && first <= 0xf4  ? 4
                  : first >= 0xe0 && first < 0xf0 ? 3
                  : first >= 0xc2 && first < 0xe0 ? 2
                                                  : 0;
  if (length == 0 || text.size() < length) return 0;
  uint32_t code = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  bool surrogate = code >= 0xd800 && code <= 0xdfff;
  bool control = code < 0xa0;
  // What turns the direction of text around, and line and paragraph separators: one line stays one line.
  bool layout = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return overlong || surrogate || code > 0x10ffff || control || layout ? 0 : length;
}

}  // namespace

std::string plain_text(std::string_view text, size_t max) {
  constexpr std::string_view kSpaces = " \t\r\n\v\f";
  size_t start = text.find_first_not_of(kSpaces);
  if (start == std::string_view::npos) return {};
  text = text.substr(start, text.find_last_not_of(kSpaces) + 1 - start);

  std::string result;
  while (!text.empty()) {
    size_t length = printable_length(text);
    bool is_space = kSpaces.contains(text.front());
    std::string_view piece = is_space ? " " : length == 0 ? "?" : text.substr(0, length);
    if (result.size() + piece.size() > max) return result + "…";
    result += piece;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace fairlead
