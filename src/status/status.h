// Says how a bundle is: which of its objects are ready, why not, and what waits for what.
//
// This is the room's first header. read_status() reads one bundle, read_bundles() (bundles.h) the list of all, and
// trace() (trace.h) follows an object to its bundle. show.h turns the results into text and JSON. Nothing here writes
// to the cluster, and a right that is missing costs a note, not the answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inventory/inventory.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "readiness/verdict.h"

namespace fairlead::status {

// A pod of a workload that is not ready.
struct PodStatus {
  std::string name;
  readiness::Verdict verdict;
};

struct ObjectStatus {
  object::Key key;
  readiness::Verdict verdict;
  // Why it is not ready, outermost first, and what to look at next.
  std::vector<std::string> causes;
  std::string next;
  // Objects of the bundle that it needs and that are not ready.
  std::vector<object::Key> blocked_by;
  std::vector<PodStatus> pods;

  bool is_ready() const { return verdict.state == readiness::State::ready; }
};

struct BundleStatus {
  std::string name;
  std::string home;
  // Who is working on the bundle now; empty if nobody is.
  std::string held_by;
  std::vector<ObjectStatus> objects;
  // What could not be found out, and why.
  std::vector<std::string> notes;

  size_t ready() const;
  bool is_ready() const { return ready() == objects.size(); }
};

// Fails if there is no such bundle, or if its record or objects cannot be read.
Task<Result<BundleStatus>> read_status(kube::Client& client, kube::Discovery& discovery, std::string name,
                                       std::string home);

// Opens the inventory of a bundle that must exist.
Task<Result<std::unique_ptr<inventory::Inventory>>> open_bundle(kube::Client& client, kube::Discovery& discovery,
                                                                std::string name, std::string home);

}  // namespace fairlead::status
