// Needs that people write down: config.kubernetes.io/depends-on and fairlead.dev/needs.
#pragma once

#include "graph/draft.h"

namespace fairlead::graph {

void add_annotated(Draft& draft);

}  // namespace fairlead::graph
