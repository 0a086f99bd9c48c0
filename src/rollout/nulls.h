// Nulls in manifests, which templates leave behind where a value is empty.
#pragma once

#include <vector>

#include "manifest/manifest.h"

namespace fairlead::rollout {

// Takes the nulls out of the objects that mean no more than a field that is not there. Left in, the API server refuses
// custom resources with them, and of other objects it makes us owners of fields that we do not set. Nulls that a schema
// allows, that are values of a map, or that are in parts which no schema describes, stay. `definitions`: the CRDs of
// the cluster; those of the bundle come before them.
void drop_nulls(manifest::Bundle& bundle, const std::vector<Json>& definitions);

}  // namespace fairlead::rollout
