// What waits for which guard.
//
// An object that a guard stands on, directly or through what that needs in turn, cannot wait for the guard: it is
// exempt. Where the guard fails closed, what registers it waits for such objects instead.
#pragma once

#include "graph/graph_builder.h"

namespace fairlead::graph {

// Adds the exemptions, and the needs of objects for guards. GuardMatches, references and stands are known by then, and
// nothing that people ask for by annotation: a loop through that is for them to see.
void add_guard_needs(GraphBuilder& builder);

}  // namespace fairlead::graph
