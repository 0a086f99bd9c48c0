// The results of runs that ended before anything was deleted.
#pragma once

#include <vector>

#include "removal/removal.h"

namespace fairlead::removal {

// Returns the result of a run that failed before it began; interrupted if all errors are cancellations.
Ending failed_with(std::vector<Error> errors);
// Returns the result of a run whose time was over before it knew what is in the cluster. `error` is what the last
// request returned.
Ending late(const Error& error, const Options& options);

}  // namespace fairlead::removal
