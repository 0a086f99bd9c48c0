// What can be wrong with an object of any kind that somebody asked about.
#pragma once

#include <optional>

#include "doctor/checks.h"

namespace fairlead::doctor {

// Returns nothing if the object is not being deleted, or has been for a moment only (deletions.cc).
std::optional<Finding> stuck_deletion(const Snapshot& snapshot, const Json& object);
// Adds why the object is not ready, by the rules of its kind (workloads.cc).
void check_readiness(const Snapshot& snapshot, const Json& object, Findings& findings);

}  // namespace fairlead::doctor
