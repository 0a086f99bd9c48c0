#include "base/base64.h"

#include <cstdint>

namespace fairlead {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t left = bytes.size() - i;
    auto byte = [&](size_t k) { return k < left ? static_cast<uint32_t>(static_cast<uint8_t>(bytes[i + k])) : 0u; };
    uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    result += kAlphabet[group >> 18];
    result += kAlphabet[group >> 12 & 63];
    result += left > 1 ? kAlphabet[group >> 6 & 63] : '=';
    result += left > 2 ? kAlphabet[group & 63] : '=';
  }
  return result;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string result;
  result.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      group <<= 6;
    } else {
      int value = value_of(c);
      if (value < 0 || padding > 0) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    if (++digits < 4) continue;
    if (padding > 2) return std::nullopt;
    for (int i = 0; i < 3 - padding; ++i) result += static_cast<char>(group >> (16 - 8 * i) & 0xff);
    digits = 0;
    group = 0;
    // Nothing may stand behind a padded group.
    if (padding > 0) padding = 3;
  }
  if (digits != 0) return std::nullopt;
  return result;
}

}  // namespace fairlead
