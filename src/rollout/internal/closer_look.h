// Takes a closer look at objects that failed, when the run is over.
#pragma once

#include "rollout/core/run.h"
#include "rollout/rollout.h"

namespace fairlead::rollout {

// Adds findings (readiness/closer_look.h) to the causes of the ending, which are those of the run. Sends a limited
// number of requests, for a limited time; what cannot be read is left out.
Task<void> look_closer(kube::Client& client, const Run& run, Ending& ending);

}  // namespace fairlead::rollout
