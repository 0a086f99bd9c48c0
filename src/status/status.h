// Says how a bundle is: which of its objects are ready, which differ from what was applied, and what waits for what.
//
// This is the room's first header. read_status() reads one bundle, read_bundles() (bundles.h) the list of all, and
// trace() (trace.h) follows an object to its bundle, its manifest and its run. show.h turns the results into text and
// JSON. Nothing here writes to the cluster, and a right that is missing costs a note, not the answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "history/history.h"
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
  enum class Drift {
    none,
    changed,  // fields differ from what was applied
    gone,     // it was applied, and is not in the cluster
    unknown,  // its manifest is not known, or cannot be compared
  };
  object::Key key;
  // The file:line of its manifest; empty if it is not known.
  std::string source;
  // `unknown` if the object is not in the cluster.
  readiness::Verdict verdict;
  Drift drift = Drift::unknown;
  // The fields that differ: "spec.replicas".
  std::vector<std::string> fields;
  // The last run did not apply it: what became of it there, such as "blocked".
  std::string not_applied;
  // In the cluster, and not in the manifests of the last run.
  bool left = false;
  // Why it is not ready, outermost first, and what to look at next.
  std::vector<std::string> causes;
  std::string next;
  // Objects of the bundle that it needs and that are not ready or not there.
  std::vector<object::Key> blocked_by;
  std::vector<PodStatus> pods;

  bool is_ready() const {
    return drift != Drift::gone && not_applied.empty() && verdict.state == readiness::State::ready;
  }
};
std::string_view name_of(ObjectStatus::Drift drift);

struct BundleStatus {
  std::string name;
  std::string home;
  std::optional<history::LastRun> last_run;
  // The newest revision.
  std::optional<history::Revision> revision;
  // Who is working on the bundle now; empty if nobody is.
  std::string held_by;
  std::vector<ObjectStatus> objects;
  // What could not be found out, and why.
  std::vector<std::string> notes;

  size_t ready() const;
  size_t drifted() const;
  bool is_ready() const { return ready() == objects.size(); }
};

// Fails if there is no such bundle, or if its record or objects cannot be read.
Task<Result<BundleStatus>> read_status(kube::Client& client, kube::Discovery& discovery, std::string name,
                                       std::string home);

// Opens the inventory of a bundle that must exist.
Task<Result<std::unique_ptr<inventory::Inventory>>> open_bundle(kube::Client& client, kube::Discovery& discovery,
                                                                std::string name, std::string home);

}  // namespace fairlead::status
