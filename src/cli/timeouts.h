// --timeout-for KIND=DURATION, of apply and delete.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace fairlead::cli {

// By kind. `example` is what an error tells people to write.
Result<std::map<std::string, Duration, std::less<>>> read_timeouts(const std::vector<std::string>& texts,
                                                                   const std::string& example);

}  // namespace fairlead::cli
