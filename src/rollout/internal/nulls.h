// Removes nulls from manifests. Templates leave them behind where a value is empty.
#pragma once

#include <vector>

#include "manifest/manifest.h"

namespace fairlead::rollout {

// Removes the nulls that mean the same as an absent field. If they stayed, the API server would refuse custom resources
// with them, and would make us the owner of fields of other objects that we do not set. Nulls stay if a schema allows
// them, if they are values of a map, or if no schema describes that part of the object. `definitions` are the CRDs of
// the cluster; those of the bundle take precedence.
void drop_nulls(manifest::Bundle& bundle, const std::vector<Json>& definitions);

}  // namespace fairlead::rollout
