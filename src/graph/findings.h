// What can be seen to go wrong before anything is sent, with what to change.
#pragma once

#include "graph/graph_builder.h"

namespace fairlead::graph {

// Namespaces, kinds, policies and Services that are neither in the bundle nor in the cluster.
void find_missing(GraphBuilder& builder);

// Webhooks that stand in their own way, or in that of the cluster's own parts.
void find_interceptions(GraphBuilder& builder);

}  // namespace fairlead::graph
