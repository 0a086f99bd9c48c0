#include "status/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "base/timestamp.h"

namespace fairlead::status {
namespace {

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string table(const std::vector<Row>& rows) {
  std::vector<Row> cells = rows;
  std::vector<size_t> widths;
  for (Row& row : cells)
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = printable_line(row[i]);
      if (i >= widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  std::string text;
  for (const Row& row : cells) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] - width_of(row[i]) + 3, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string age(std::string_view timestamp, WallTime now) {
  std::optional<WallTime> then = parse_timestamp(timestamp);
  if (!then) return "?";
  auto seconds = std::max<int64_t>(std::chrono::duration_cast<std::chrono::seconds>(now - *then).count(), 0);
  constexpr int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  if (seconds < 2 * kMinute) return fmt::format("{}s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{}m", seconds / kMinute);
  if (seconds < 2 * kDay) return fmt::format("{}h", seconds / kHour);
  return fmt::format("{}d", seconds / kDay);
}

}  // namespace fairlead::status
