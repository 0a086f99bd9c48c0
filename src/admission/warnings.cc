#include "admission/warnings.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace fairlead::admission {
namespace {

constexpr size_t kMaxInAll = 4096;
constexpr size_t kMaxEach = 256;

// The characters of a text; nothing if it is no UTF-8, or has control characters.
std::optional<size_t> characters_of(std::string_view text, size_t stop_at, size_t* bytes) {
  size_t count = 0;
  for (size_t i = 0; i < text.size();) {
    if (count == stop_at) break;
    auto lead = static_cast<unsigned char>(text[i]);
    size_t more = lead < 0x80 ? 0 : lead >= 0xC2 && lead < 0xE0 ? 1 : lead >= 0xE0 && lead < 0xF0 ? 2 : 3;
    if ((lead >= 0x80 && lead < 0xC2) || lead >= 0xF5 || i + more >= text.size()) return std::nullopt;
    uint32_t rune = more == 0 ? lead : lead & (0x3FU >> more);
    for (size_t k = 1; k <= more; ++k) {
      auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return std::nullopt;
      rune = rune << 6 | (next & 0x3F);
    }
    bool too_long = (more == 2 && rune < 0x800) || (more == 3 && rune < 0x10000);
    bool control = rune < 0x20 || (rune >= 0x7F && rune < 0xA0);
    if (too_long || control || rune > 0x10FFFF || (rune >= 0xD800 && rune < 0xE000)) return std::nullopt;
    i += more + 1;
    ++count;
    *bytes = i;
  }
  return count;
}

}  // namespace

void Warnings::write(std::string_view text) {
  size_t bytes = 0;
  // What is cut away may be anything; what is kept must be fit for a header.
  std::optional<size_t> count = characters_of(text, cutting_ ? kMaxEach : text.size(), &bytes);
  if (!count) return;
  written_ += *count;
  texts_.emplace_back(text.substr(0, bytes));
}

void Warnings::add(std::string_view text) {
  if (text.empty() || (cutting_ && written_ >= kMaxInAll)) return;
  if (std::find(seen_.begin(), seen_.end(), text) != seen_.end()) return;
  seen_.emplace_back(text);
  size_t bytes = 0;
  std::optional<size_t> count = characters_of(text, text.size(), &bytes);
  if (cutting_ || !count || written_ + *count <= kMaxInAll) return write(text);
  cutting_ = true;
  written_ = 0;
  texts_.clear();
  for (const std::string& earlier : seen_) write(earlier);
}

std::string Warnings::header(std::string_view text) {
  std::string out = "299 - \"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace fairlead::admission
