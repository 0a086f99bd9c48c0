// Finds loops among the needs.
#pragma once

#include "graph/graph_builder.h"

namespace fairlead::graph {

// Reports every loop of hard needs as an error, and drops the soft needs that close a loop.
void resolve_loops(GraphBuilder& builder);

}  // namespace fairlead::graph
