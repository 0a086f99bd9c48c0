// Finds the containers whose logs may say which rights they lack.
#pragma once

#include <vector>

#include "doctor/snapshot.h"
#include "readiness/failed_container.h"

namespace fairlead::doctor {

// Returns the container with the gravest trouble of each workload, unfinished Job and single pod that is not ready, if
// it has run. Those behind webhooks come first.
std::vector<readiness::FailedContainer> failing_containers(const Snapshot& snapshot);

}  // namespace fairlead::doctor
