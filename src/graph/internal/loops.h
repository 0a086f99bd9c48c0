// Finds and resolves loops among the needs.
#pragma once

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {

// Reports loops of hard needs as errors. If there are none, drops the soft needs that close a loop.
void resolve_loops(GraphBuilder& builder);

}  // namespace fairlead::graph
