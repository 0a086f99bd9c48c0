// Finds the guards of the bundle and of the cluster, and the objects of the bundle that each guard depends on.
#pragma once

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {

// Decides which objects a guard matches. Conversions and APIServices have neither a webhook nor a policy.
struct GuardMatcher {
  const admission::Webhook* webhook = nullptr;
  // Set for policies only.
  std::optional<admission::Policy> policy;
  std::optional<admission::Binding> binding;
};

// Fills Contents::guards and adds one node per guard. Must run before any other node is added, because guards follow
// the objects directly. Returns one matcher per guard, in the same order.
plan::IdVector<GuardId, GuardMatcher> add_guards(GraphBuilder& builder);

// Fills Guard::backed_by and adds the needs of the guards. Requires that Contents::guards is complete.
void add_backing(GraphBuilder& builder);

}  // namespace fairlead::graph
