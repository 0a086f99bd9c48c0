// Orders objects in the steps that users ask for: sync waves of Argo CD and hooks of Helm.
//
// Each step but the last has a node. The node needs every object of its step to be ready, and every object of the next
// step needs the node. Objects without an annotation are in wave 0, as in Argo CD. Namespaces and CRDs without one are
// in no step, because Helm also creates them before its first hook.
//
// An object may have to wait for a guard that depends on an object of a later step. For example, an Ingress waits for a
// webhook whose certificate is created by a post-install Job. Such an object counts as part of the later step, so that
// the steps before it do not wait for the object.
#pragma once

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {

// Fills GraphBuilder::steps and GraphBuilder::step_of.
void find_steps(GraphBuilder& builder);

// Adds the needs between steps. Requires that every other hard need was added.
void add_waves(GraphBuilder& builder);

}  // namespace fairlead::graph
