// The guards that the bundle and the cluster have, and what of the bundle each stands on.
#pragma once

#include "graph/graph_builder.h"

namespace fairlead::graph {

// A guard with what decides which objects meet it.
struct GuardMatcher {
  const admission::Webhook* webhook = nullptr;
  // Of policies.
  std::optional<admission::Policy> policy;
  std::optional<admission::Binding> binding;
};

// Fills contents.guards and adds a node for each, right behind the objects; the watchers are in the same order.
std::vector<GuardMatcher> add_guards(GraphBuilder& builder);

// The guard's needs of what it stands on. `draft.contents->guards` is complete by then.
void add_backing(GraphBuilder& builder);

// Carries the mark of Fairlead's own webhook configurations.
bool is_shadow(const Json& configuration);

}  // namespace fairlead::graph
