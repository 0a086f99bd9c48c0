// Takes out what is part of the bundle in the cluster and not any more in the manifests.
#pragma once

#include "rollout/prepare.h"

namespace fairlead::rollout {

struct Pruned {
  std::vector<ObjectEnding> objects;
  std::vector<Error> errors;
};

// In the order in which they can go, by the room `removal`. In a dry run nothing is removed, only told. What objects of
// the bundle would go with stays: the bundle's home, namespaces and definitions that are still in use. So does what
// holds objects of others, unless the options say otherwise. Ends at `expires` with errors of kind timeout.
Task<Pruned> prune(kube::Client& client, kube::Discovery& discovery, journal::Journal& journal,
                   const Prepared& prepared, const Options& options, TimePoint expires, CancelSource* stop);

}  // namespace fairlead::rollout
