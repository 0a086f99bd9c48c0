// Tells in which order a dry run would have sent the objects, and why.
#pragma once

#include "rollout/core/run.h"

namespace fairlead::rollout {

// Adds steps and waits to the forecasts of a run that is over, and names the guards of the bundle that have not seen an
// object.
void add_order(const Run& run);

}  // namespace fairlead::rollout
