// Finds problems before anything is sent, and says what to change.
#pragma once

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {

// Reports namespaces, kinds, policies and Services that are neither in the bundle nor in the cluster.
void find_missing(GraphBuilder& builder);

// Reports webhooks that intercept objects that they depend on, the inventory of the bundle, or Leases and pods of the
// cluster itself. Also notes the objects that do not wait for a guard because of their wave or hook.
void find_interceptions(GraphBuilder& builder);

}  // namespace fairlead::graph
