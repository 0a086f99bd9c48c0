// Asks the API server which permissions a rollout lacks, as far as a dry run cannot show it.
#pragma once

#include "kube/discovery.h"
#include "rollout/core/run.h"
#include "rollout/internal/prune.h"

namespace fairlead::rollout {

// Asks for the deletion of objects that would be pruned or replaced, and for the apply of objects that the API server
// has not checked. Adds a concern for each permission that is missing. Sends reviews only, which store nothing.
Task<void> check_permissions(kube::Client& client, const kube::Discovery& discovery, Run& run, const Pruned& pruned);

}  // namespace fairlead::rollout
