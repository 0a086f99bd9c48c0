// What a journal holds of a rollout for readers that want every detail: the graph and the result.
#pragma once

#include "base/json.h"
#include "base/secrets.h"
#include "graph/graph.h"
#include "manifest/manifest.h"
#include "rollout/rollout.h"

namespace fairlead::rollout {

// Returns the details of the `graph` event (journal/graph_details.h).
Json graph_details(const graph::Graph& graph, const manifest::Bundle& bundle, const Secrets& secrets);

// Returns the details of the `ended` event (journal/ending_details.h).
Json ending_details(const Ending& ending, const Secrets& secrets);

}  // namespace fairlead::rollout
