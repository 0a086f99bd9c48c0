#include "report/internal/words.h"

#include <fmt/format.h>

namespace fairlead::report {

std::string with_commas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t from_end = 3; from_end < text.size(); from_end += 4) text.insert(text.size() - from_end, ",");
  return text;
}

std::string plural(std::string_view kind) {
  if (kind.empty() || kind == "Endpoints") return std::string(kind);
  bool hisses = kind.ends_with('s') || kind.ends_with('x') || kind.ends_with("ch") || kind.ends_with("sh");
  if (hisses) return std::string(kind) + "es";
  bool ends_in_y = kind.size() > 1 && kind.ends_with('y') &&
                   std::string_view("aeiou").find(kind[kind.size() - 2]) == std::string_view::npos;
  return ends_in_y ? std::string(kind.substr(0, kind.size() - 1)) + "ies" : std::string(kind) + "s";
}

std::string counted(uint64_t count, std::string_view kind) {
  return fmt::format("{} {}", with_commas(count), count == 1 ? std::string(kind) : plural(kind));
}

std::string clock_text(Duration duration) {
  auto tenths = duration / std::chrono::milliseconds(100);
  if (tenths < 100) return fmt::format("{}.{}s", tenths / 10, tenths % 10);
  auto seconds = tenths / 10;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds % 3600 / 60);
}

}  // namespace fairlead::report
