// Does everything that comes before the first write: reads the cluster, derives what the bundle needs, and finds
// errors.
#pragma once

#include <memory>
#include <unordered_map>

#include "graph/graph.h"
#include "inventory/inventory.h"
#include "rollout/core/placing.h"
#include "rollout/rollout.h"

namespace fairlead::rollout {

struct Prepared {
  manifest::Bundle bundle;
  std::unique_ptr<Kinds> kinds;
  graph::ClusterState cluster;
  // The newest resourceVersion of the cluster when it was read.
  uint64_t version = 0;
  std::optional<graph::Graph> graph;
  // Null if the bundle has no name; then there are no members either.
  std::unique_ptr<inventory::Inventory> inventory;
  std::vector<inventory::Member> members;
  // Objects that look like members and are not.
  std::vector<inventory::ForeignObject> foreign_objects;
  std::unordered_map<object::Key, const Json*> live;
};

// Fills `prepared`, which must not be moved afterwards, since parts of it refer to it. Call again if another run has
// worked on the bundle meanwhile; the inventory and its claim are kept then. Notes and warnings go to the journal.
// Returns the errors that end the run before anything is written.
Task<manifest::Errors> prepare(kube::Client& client, kube::Discovery& discovery, const Options& options,
                               journal::Journal& journal, Prepared& prepared);

}  // namespace fairlead::rollout
