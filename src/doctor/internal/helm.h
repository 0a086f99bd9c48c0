// Helm releases that were left in the middle of something.
#pragma once

#include <vector>

#include "doctor/snapshot.h"
#include "kube/helm_release.h"

namespace fairlead::doctor {

struct PendingRelease {
  // The Secret or ConfigMap of its newest revision.
  object::Key record;
  kube::HelmRelease release;
};

// Returns the releases whose newest revision has been pending for longer than a helm takes, as far as the snapshot
// knows their revisions.
std::vector<PendingRelease> pending_releases(const Snapshot& snapshot);

}  // namespace fairlead::doctor
