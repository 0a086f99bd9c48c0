// Time limits on the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "cli/core/flags.h"

namespace fairlead::cli {

// --timeout of a whole run, and --timeout-for the objects of a kind.
void add_timeout_flag(Command command, std::string& timeout);
void add_timeout_for_flag(Command command, std::vector<std::string>& timeouts);

// The value of a flag; an error names the flag.
Result<Duration> read_duration(const std::string& flag, const std::string& text);

// The values of --timeout-for, by kind. `example` is what an error tells people to write.
Result<std::map<std::string, Duration, std::less<>>> read_timeouts(const std::vector<std::string>& texts,
                                                                   const std::string& example);

}  // namespace fairlead::cli
