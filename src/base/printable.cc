#include "base/printable.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace fairlead {
namespace {

struct Character {
  char32_t code = 0;
  size_t size = 0;  // 0 where the bytes are no UTF-8
};

Character first_character(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80) return {.code = lead, .size = 1};
  size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  char32_t code = lead & (0xffU >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[size] || code > 0x10ffff || is_surrogate) return {};
  return {.code = code, .size = size};
}

bool is_harmless(char32_t code) {
  bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
  bool turns_writing = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                       (code >= 0x2066 && code <= 0x2069);
  return !is_control && !turns_writing;
}

std::string written_out(std::string_view text, bool may_break) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    auto [code, size] = first_character(text);
    if (size == 0) fmt::format_to(std::back_inserter(safe), "\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (may_break && (code == '\n' || code == '\t')) safe += static_cast<char>(code);
    else if (code == '\n' || code == '\t') safe += code == '\n' ? "\\n" : "\\t";
    else if (is_harmless(code)) safe += text.substr(0, size);
    else if (code < 0x80) fmt::format_to(std::back_inserter(safe), "\\x{:02x}", uint32_t(code));
    else fmt::format_to(std::back_inserter(safe), "\\u{:04x}", uint32_t(code));
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return safe;
}

}  // namespace

std::string printable(std::string_view text) { return written_out(text, true); }
std::string printable_line(std::string_view text) { return written_out(text, false); }

}  // namespace fairlead
