// Order that people ask for in steps: sync waves of Argo CD, hooks of Helm.
//
// A step is one node that needs every object of it to be ready, and that every object of the next step needs. Objects
// that say nothing are in wave 0, as in Argo CD, apart from Namespaces and CRDs: those are free, as they are for Helm,
// which makes them before its first hook.
#pragma once

#include "graph/draft.h"

namespace fairlead::graph {

// Hooks of Helm that run for tests, deletion or rollback only.
bool is_hook_without_install(const Json& annotations);

void add_waves(Draft& draft);

}  // namespace fairlead::graph
