// Reads a snapshot of a cluster: one LIST per kind, at the same time, and never more than a few requests.
#pragma once

#include <string>

#include "doctor/snapshot.h"
#include "kube/client.h"
#include "kube/discovery.h"

namespace fairlead::doctor {

inline constexpr uint64_t kMostRequests = 40;
// What has not answered within this time is named as unseen.
inline constexpr Duration kRequestTakes = std::chrono::seconds(10);
// All of it takes no longer than this.
inline constexpr Duration kReadingTakes = std::chrono::seconds(30);

// True if read_snapshot() asks for every object of this kind.
bool reads_all(std::string_view group, std::string_view kind);

struct ReadingLimits {
  // Without those that are sent again because the API server is busy and asks for it.
  uint64_t requests = kMostRequests;
  // One page holds what most clusters have of a kind.
  size_t page = 5000;
};

// Reads everything that the checks look at. Where a kind may not be listed in the whole cluster, only its objects in
// `ns` are read, if `ns` is not empty. What cannot be read, and what there were no requests left for, is remembered in
// the snapshot; fails only if the API server does not answer at all. A request that hangs costs its own answer only.
// Writes nothing.
Task<Result<Snapshot>> read_snapshot(kube::Client& client, kube::Discovery& discovery, std::string ns,
                                     ReadingLimits limits = {});

// The error of an API server that did not answer within kReadingTakes.
Error silent_error();

}  // namespace fairlead::doctor
