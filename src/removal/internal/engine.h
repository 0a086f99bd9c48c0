// Runs a removal: finds out what is there, makes the plan, and deletes the targets as the plan releases them.
#pragma once

#include "removal/run.h"

namespace fairlead::removal {

// Deletes the targets of the run. Cancelling `stop` (may be null) lets requests in flight end.
Task<Ending> execute(kube::Client& client, kube::Discovery& discovery, Run& run, CancelSource* stop);

}  // namespace fairlead::removal
