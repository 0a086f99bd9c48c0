// Needs that follow from what objects name: namespaces, CRDs, ConfigMaps, roles, issuers and so on.
#pragma once

#include "graph/draft.h"

namespace fairlead::graph {

void add_references(Draft& draft);

}  // namespace fairlead::graph
