// A bundle as an earlier release had it: some of it not there yet, some of it under other names or in other places, and
// some that the new release has no more.
#pragma once

#include <vector>

#include "rollout_bundle.h"

namespace fairlead::sim {

struct OlderBundle {
  std::vector<BundleObject> objects;
  // Those of them that the new one does not have.
  std::vector<BundleObject> leftovers;
  // The operator among the leftovers, "op-old/hooks"; empty if there is none.
  std::string service;
};
OlderBundle draw_older(Random random, const RandomBundle& bundle);

// A configuration as an earlier release had it: with fewer hooks, or with hooks that guard less.
Json older_form(Random& random, const Json& configuration);

// Only a Deployment without anything behind its pods has an older form: an operator's would come and go meanwhile.
bool can_be_older(const BundleObject& object);
// A Deployment with pods of an earlier release.
Json older_workload(Json deployment);

}  // namespace fairlead::sim
