// Finds the guards that match each object.
//
// Rules are matched once per kind, and namespaceSelectors once per namespace. Only objectSelectors and matchConditions
// are evaluated per object. If the object's own labels do not match an objectSelector, the guard counts as matching
// only if the live version of the object is known and its labels match.
#pragma once

#include "graph/internal/guards.h"

namespace fairlead::graph {

// Fills Contents::matches, Contents::match_starts and Contents::match_sets.
void find_guard_matches(GraphBuilder& builder, const plan::IdVector<GuardId, GuardMatcher>& matchers);

}  // namespace fairlead::graph
