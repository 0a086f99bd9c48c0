// The bundles of a cluster, or of a namespace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "history/history.h"
#include "kube/client.h"
#include "kube/discovery.h"

namespace fairlead::status {

struct BundleSummary {
  std::string name;
  std::string home;
  size_t objects = 0;
  size_t ready = 0;
  // Kinds that could not be listed: their objects are not counted.
  size_t unlisted_kinds = 0;
  // When the record was created.
  std::string created;
  std::optional<history::LastRun> last_run;
  std::optional<history::Revision> revision;
  // Who is working on the bundle now; empty if nobody is.
  std::string held_by;
};

struct Bundles {
  std::vector<BundleSummary> bundles;
  // What could not be listed, and why.
  std::vector<std::string> notes;
};

// Lists the bundles whose home is `ns`, or, if it is empty, all of them. A user who may not list in all namespaces gets
// those of `fallback`, with a note.
Task<Result<Bundles>> read_bundles(kube::Client& client, kube::Discovery& discovery, std::string ns,
                                   std::string fallback);

// Returns the names of the bundles whose home is `ns`, sorted. Costs one request.
Task<Result<std::vector<std::string>>> read_names(kube::Client& client, kube::Discovery& discovery, std::string ns);

}  // namespace fairlead::status
