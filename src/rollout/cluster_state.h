// Reads what the cluster has that a bundle meets: webhook configurations, policies, CRDs, APIServices, namespaces.
#pragma once

#include "graph/graph.h"
#include "kube/client.h"
#include "kube/discovery.h"

namespace fairlead::rollout {

// All at once. What may not be read is left out, and said in one of `notes`: the API server's own answers then have to
// do. An
// error is the lack of any answer. `version` becomes the newest version of the cluster that an answer told.
Task<Result<graph::ClusterState>> read_cluster(kube::Client& client, const kube::Discovered& discovered,
                                               std::vector<std::string>& notes, uint64_t& version);

}  // namespace fairlead::rollout
