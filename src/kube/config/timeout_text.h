// How long something may take, as people write it on a command line.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace fairlead::kube {

// "300ms", "1m30s", "1.5h" as Go writes durations, or a whole number of seconds. Not negative.
Result<Duration> parse_timeout(std::string_view text);

}  // namespace fairlead::kube
