// Everything that happens before the first object is sent: what the cluster has, what the bundle needs, what is wrong
// with it.
#pragma once

#include <memory>
#include <unordered_map>

#include "graph/graph.h"
#include "inventory/inventory.h"
#include "rollout/placing.h"
#include "rollout/rollout.h"

namespace fairlead::rollout {

struct Prepared {
  manifest::Bundle bundle;
  std::unique_ptr<Kinds> kinds;
  graph::ClusterState cluster;
  // Of the cluster, when that was read.
  uint64_t version = 0;
  std::optional<graph::Graph> graph;
  // Without a name: nothing, and no members.
  std::unique_ptr<inventory::Inventory> inventory;
  std::vector<inventory::Member> members;
  // What looks like a member and is none.
  std::vector<inventory::ForeignObject> foreign_objects;
  std::unordered_map<object::Key, const Json*> live;
};

// In place, since the graph keeps hold of parts of it. To be called again when another run was at work on the bundle
// meanwhile; the inventory, with its claim, is kept then. What is worth knowing goes to the journal; errors end the run
// before anything was written.
Task<manifest::Errors> prepare(kube::Client& client, kube::Discovery& discovery, const Options& options,
                               journal::Journal& journal, Prepared& prepared);

}  // namespace fairlead::rollout
