// The log of a plugin: a line of JSON per entry on standard error, in the form that Terraform reads.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"

namespace fairlead::rpc {

enum class LogLevel { trace, debug, info, warn, error };

// With its newline. Fields come after the message; long entries are cut, since lines of 64 KiB are not read any more.
std::string hclog_line(LogLevel level, std::string_view message, const Json& fields, WallTime now);

}  // namespace fairlead::rpc
