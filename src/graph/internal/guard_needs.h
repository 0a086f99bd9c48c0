// Decides which objects wait for which guards.
//
// A guard may match an object that it depends on, directly or through other needs. Such an object cannot wait for the
// guard, so it is exempt. If the guard fails closed, its configuration waits for the exempt objects instead.
#pragma once

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {

// Adds the exemptions and the needs of objects for guards. Requires that the guard matches, the steps, and the needs of
// references and guards are complete. Must run before the needs of annotations are added: a loop through an annotation
// is reported to the user instead of being broken by an exemption.
void add_guard_needs(GraphBuilder& builder);

}  // namespace fairlead::graph
