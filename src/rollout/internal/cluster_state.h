// Reads the objects of the cluster that affect a rollout: webhook configurations, policies, CRDs, APIServices,
// namespaces and Services.
#pragma once

#include "graph/graph.h"
#include "kube/client.h"
#include "kube/discovery.h"

namespace fairlead::rollout {

// Sends all LISTs at once. Kinds that the user may not list are left out, with a text in `notes`; for these, the
// rollout depends on the API server's answers. Fails if a LIST fails for another reason. `version` becomes the newest
// resourceVersion of the LISTs, unless it was newer.
Task<Result<graph::ClusterState>> read_cluster(kube::Client& client, const kube::Discovered& discovered,
                                               std::vector<std::string>& notes, uint64_t& version);

}  // namespace fairlead::rollout
