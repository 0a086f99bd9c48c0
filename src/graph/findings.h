// What can be seen to go wrong before anything is sent, with what to change.
#pragma once

#include "graph/draft.h"

namespace fairlead::graph {

// Namespaces, kinds, policies and Services that are neither in the bundle nor in the cluster.
void find_missing(Draft& draft);

// Webhooks that stand in their own way, or in that of the cluster's own parts.
void find_interceptions(Draft& draft);

}  // namespace fairlead::graph
