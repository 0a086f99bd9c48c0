// Adds the needs that users declare in annotations: config.kubernetes.io/depends-on and fairlead.dev/needs.
#pragma once

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {

void add_annotated(GraphBuilder& builder);

}  // namespace fairlead::graph
