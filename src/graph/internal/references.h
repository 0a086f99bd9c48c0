// Adds the needs that follow from the names in objects: namespaces, CRDs, ConfigMaps, roles, issuers and so on.
#pragma once

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {

void add_references(GraphBuilder& builder);

}  // namespace fairlead::graph
