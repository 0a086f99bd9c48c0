// Makes the plan of a rollout from a graph.
#pragma once

#include "graph/graph.h"
#include "plan/plan.h"

namespace fairlead::rollout {

using graph::GuardId;
using graph::NodeId;
using plan::Plan;

// Returns how far the target of a need must have come before the node may start.
plan::Level level_of(const graph::Node& node, const graph::Need& need);

// Nodes keep their numbers. A node is done when it is ready. The graph must outlive the plan and have no errors.
Plan plan_of(const graph::Graph& graph);

}  // namespace fairlead::rollout
