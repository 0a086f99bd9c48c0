#include "terraform/stderr_log.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

namespace fairlead::terraform {

void StderrLog::write(Level level, std::string_view message, const Json& fields) {
  if (level < least_) return;
  // The two have the same levels in the same order.
  std::string line =
      rpc::hclog_line(rpc::LogLevel(int(level)), secrets_.without(message), fields, RealClock().wall_now());
  std::string clean = secrets_.without(line);
  std::fwrite(clean.data(), 1, clean.size(), stderr);
}

Log::Level log_level_of_environment() {
  for (const char* name : {"TF_LOG_PROVIDER_FAIRLEAD", "TF_LOG_PROVIDER", "TF_LOG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    std::string level = value;
    std::ranges::transform(level, level.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    if (level == "trace" || level == "json") return Log::Level::trace;
    if (level == "debug") return Log::Level::debug;
    if (level == "info") return Log::Level::info;
    if (level == "error" || level == "off") return Log::Level::error;
    return Log::Level::warn;
  }
  return Log::Level::warn;
}

}  // namespace fairlead::terraform
