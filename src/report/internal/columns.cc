#include "report/internal/columns.h"

#include <algorithm>
#include <iterator>

namespace fairlead::report {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Marks that are drawn on the character before them, and characters that are not drawn.
constexpr Range kNoColumn[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},   {0x064b, 0x065f},  {0x0e31, 0x0e31},
    {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},   {0x200b, 0x200d},  {0x20d0, 0x20ff},
    {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0020, 0xe007f}, {0xe0100, 0xe01ef}};

// Unicode's East Asian Width W and F. Where the exact range is ragged, it is rounded up: a line that is cut a column
// too early does no harm.
constexpr Range kTwoColumns[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23f3},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},   {0x2693, 0x2693},   {0x26a1, 0x26a1},
    {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},   {0x26d4, 0x26d4},
    {0x26ea, 0x26ea},   {0x26f2, 0x26f5},   {0x26fa, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274e},   {0x2753, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},
    {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18aff},
    {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f19a}, {0x1f200, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7f0}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd}};

template <size_t N>
bool is_in(const Range (&ranges)[N], char32_t code) {
  const Range* found = std::ranges::lower_bound(ranges, code, {}, &Range::last);
  return found != std::end(ranges) && found->first <= code;
}

struct Character {
  size_t size = 1;
  size_t columns = 1;
};

// Requires a text that is not empty. A byte that is no UTF-8 counts as one column.
Character first_of(std::string_view text) {
  auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0xc0) return {};
  size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (text.size() < size) return {};
  char32_t code = lead & (0xffU >> (size + 1));
  for (size_t i = 1; i < size; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  return {.size = size,
          .columns = is_in(kNoColumn, code)     ? size_t{0}
                     : is_in(kTwoColumns, code) ? size_t{2}
                                                : size_t{1}};
}

}  // namespace

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    Character first = first_of(text);
    columns += first.columns;
    text.remove_prefix(first.size);
  }
  return columns;
}

std::string cut_to(std::string_view text, size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  size_t used = 0;
  size_t kept = 0;
  while (true) {
    Character next = first_of(text.substr(kept));
    if (used + next.columns > columns - 1) break;
    used += next.columns;
    kept += next.size;
  }
  return std::string(text.substr(0, kept)) + "…";
}

std::string padded_to(std::string_view text, size_t columns) {
  std::string padded = cut_to(text, columns);
  padded.append(columns - columns_of(padded), ' ');
  return padded;
}

}  // namespace fairlead::report
