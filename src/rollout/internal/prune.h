// Deletes the members of the bundle that are in the cluster and no longer in the manifests.
#pragma once

#include "rollout/internal/prepare.h"

namespace fairlead::rollout {

struct Pruned {
  std::vector<ObjectEnding> objects;
  std::vector<Cause> causes;
};

// Deletes them with the room `removal`, which orders them. In a dry run nothing is deleted, only reported. An object
// stays if its deletion would also delete objects of the bundle: the bundle's home, and Namespaces and CRDs that are
// still in use. Namespaces and CRDs that contain objects of others stay as well, unless the options say otherwise. Ends
// at `expires` with errors of kind timeout.
Task<Pruned> prune(kube::Client& client, kube::Discovery& discovery, journal::Journal& journal,
                   const Prepared& prepared, const Options& options, TimePoint expires, CancelSource* stop);

}  // namespace fairlead::rollout
