// Durations on the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace fairlead::cli {

// The value of a flag; an error names the flag.
Result<Duration> read_duration(const std::string& flag, const std::string& text);

// --timeout-for KIND=DURATION, of apply and delete. By kind. `example` is what an error tells people to write.
Result<std::map<std::string, Duration, std::less<>>> read_timeouts(const std::vector<std::string>& texts,
                                                                   const std::string& example);

}  // namespace fairlead::cli
