// The parameter objects of admission policies.
#pragma once

#include <vector>

#include "doctor/snapshot.h"

namespace fairlead::doctor {

// Returns the objects that bindings name as parameters, each once. They have to be read one by one.
std::vector<object::Key> policy_parameters(const Snapshot& snapshot);

}  // namespace fairlead::doctor
