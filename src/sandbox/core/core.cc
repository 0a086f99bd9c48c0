#include "sandbox/core/core.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace fairlead::sandbox {

std::string time_text(WallTime time) {
  auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

std::string Core::now_text() const { return time_text(loop.clock().wall_now()); }

std::string Core::now_micro_text() const {
  WallTime now = loop.clock().wall_now();
  auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  auto micros = std::chrono::floor<std::chrono::microseconds>(now - seconds).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), micros);
}

}  // namespace fairlead::sandbox
