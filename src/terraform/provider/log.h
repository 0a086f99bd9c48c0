// The log of the provider: Terraform shows it with TF_LOG_PROVIDER.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::terraform {

class Log {
 public:
  enum class Level { trace, debug, info, warn, error };

  virtual ~Log() = default;
  // Fields are added to the line. Neither may hold secrets.
  virtual void write(Level level, std::string_view message, const Json& fields) = 0;

  void debug(std::string_view message) { write(Level::debug, message, {}); }
  void info(std::string_view message) { write(Level::info, message, {}); }
  void warn(std::string_view message) { write(Level::warn, message, {}); }
};

}  // namespace fairlead::terraform
