#include "base/duration_text.h"

#include <fmt/format.h>

namespace fairlead {

std::string short_text(Duration duration) {
  if (duration < std::chrono::seconds(1))
    return fmt::format("{}ms", std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  std::string text;
  if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
  if (seconds % 3600 >= 60) text += fmt::format("{}m", seconds % 3600 / 60);
  if (seconds % 60 != 0) text += fmt::format("{}s", seconds % 60);
  return text;
}

}  // namespace fairlead
