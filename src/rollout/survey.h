// Derives the graph of a bundle as a rollout does, without sending anything.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "rollout/rollout.h"

namespace fairlead::rollout {

struct Survey {
  // The objects, with their namespaces.
  manifest::Bundle bundle;
  // Empty if errors were found before it could be built.
  std::optional<graph::Graph> graph;
  // What would end the run before anything is written.
  manifest::Errors errors;
};

// Reads the cluster and builds the graph. Notes and warnings go to the journal.
Task<Survey> survey(kube::Client& client, kube::Discovery& discovery, manifest::Bundle bundle, const Options& options,
                    journal::Journal& journal);

}  // namespace fairlead::rollout
