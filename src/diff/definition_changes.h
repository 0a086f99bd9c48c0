// Finds changes of a CustomResourceDefinition that can break the objects or the clients of its kind. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace fairlead::diff {

// Returns one sentence per unsafe change: a version that is no longer served, or that objects are stored in and that
// goes away; a field that is removed or accepts less than before (another type, a new required field, fewer values,
// tighter bounds). `live` is the whole CRD in the cluster, with its status. `wanted` is the CRD as it would be.
std::vector<std::string> unsafe_changes(const Json& live, const Json& wanted);

}  // namespace fairlead::diff
