// Order that people ask for in steps: sync waves of Argo CD, hooks of Helm.
//
// A step is one node that needs every object of it to be ready, and that every object of the next step needs. Objects
// that say nothing are in wave 0, as in Argo CD, apart from Namespaces and CRDs: those are free, as they are for Helm,
// which makes them before its first hook.
//
// An object can have to wait for a guard that itself stands on an object of a later step: an Ingress for the webhook
// whose certificate a post-install Job makes. Such an object counts as part of that later step: nothing of the steps
// between waits for it.
#pragma once

#include "graph/graph_builder.h"

namespace fairlead::graph {

// Fills GraphBuilder::steps and GraphBuilder::step_of.
void find_steps(GraphBuilder& builder);

// The needs between steps. Every other hard need is there by then.
void add_waves(GraphBuilder& builder);

}  // namespace fairlead::graph
