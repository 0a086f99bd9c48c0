// Finds the Helm release that a command stumbled over. Pure but for reading the cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/helm_release.h"
#include "retry/retry.h"

namespace fairlead::retry {

// The newest revision of each release that the user may see; empty if none can be read.
Task<std::vector<kube::HelmRelease>> read_releases(const Cluster& cluster);

struct Search {
  // Its words may have the name and the namespace of the release.
  const std::vector<std::string>& command;
  std::string default_namespace;
};
// Of the releases that `could_be_it` accepts, the one that the command names, and otherwise the only one. Pure.
std::optional<kube::HelmRelease> find_release(const std::vector<kube::HelmRelease>& releases, const Search& search,
                                              const std::function<bool(const kube::HelmRelease&)>& could_be_it);

}  // namespace fairlead::retry
