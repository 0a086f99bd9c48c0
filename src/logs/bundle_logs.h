// The logs of the pods of a bundle that is in the cluster.
#pragma once

#include "async/cancel.h"
#include "kube/discovery.h"
#include "logs/logs.h"

namespace fairlead::logs {

struct BundleOptions {
  std::string name;
  // The namespace of the bundle's record.
  std::string home = "default";
  // "KIND/NAME" or "KIND", without regard to case; empty for all workloads of the bundle.
  std::vector<std::string> only;
  bool follow = false;
  // So many of the last lines of each container; all if there is no number.
  std::optional<int64_t> tail;
  Filter filter;
};

// True if one of the texts, "KIND" or "KIND/NAME", names the object. An empty list names everything.
bool is_chosen(const object::Key& key, const std::vector<std::string>& only);

// Calls `sink` for the lines of every container of the bundle's pods: container by container, or side by side if they
// are followed. Fails if there is no such bundle, or if none of its objects has pods. Containers whose logs cannot be
// read are left out, unless all are.
Task<Result<void>> read_bundle(kube::Client& client, kube::Discovery& discovery, BundleOptions options, Sink sink);

}  // namespace fairlead::logs
