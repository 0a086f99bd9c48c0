#include "sandbox/core/core.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace fairlead::sandbox {

std::string time_text(WallTime time) {
  auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

std::string Core::now_text() const { return time_text(loop.clock().wall_now()); }

}  // namespace fairlead::sandbox
