// Which guards each object meets.
//
// Rules are matched once for a kind and namespaceSelectors once for a namespace; only objectSelectors and conditions
// are looked at for every object. An object whose own labels do not fit an objectSelector meets the guard only if the
// one in the cluster is known, and fits.
#pragma once

#include "graph/guards.h"

namespace fairlead::graph {

// Fills the meetings of the contents.
void find_guard_matches(GraphBuilder& builder, const std::vector<GuardMatcher>& matchers);

}  // namespace fairlead::graph
