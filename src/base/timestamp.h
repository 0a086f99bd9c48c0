// Timestamps as Kubernetes writes them, RFC 3339, and as HTTP does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace fairlead {

// "2026-11-15T07:48:48Z", with a fraction of a second or an offset where there is one. Nothing for anything else.
std::optional<WallTime> parse_timestamp(std::string_view text);
// "Sun, 15 Nov 2026 07:48:48 GMT": the header Date.
std::optional<WallTime> parse_http_date(std::string_view text);
// "2026-11-15T07:48:48.000000Z": how Kubernetes writes a MicroTime.
std::string dump_micro_time(WallTime time);

}  // namespace fairlead
