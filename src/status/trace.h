// Follows an object to its bundle, its manifest and the run that applied it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "history/history.h"
#include "inventory/membership.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "object/key.h"

namespace fairlead::status {

struct Trace {
  // The object, then its owners, outermost last: a Pod, its ReplicaSet, the Deployment that belongs to the bundle.
  std::vector<object::Key> chain;
  std::optional<inventory::BundleName> bundle;
  // Describes the owner if it is not a bundle of Fairlead: an ApplySet of another tool, or a Helm release.
  std::string other_owner;
  // The file:line of its manifest in the newest revision that has it.
  std::string source;
  // The newest run that applied the object, and the newest that changed it.
  std::optional<history::Revision> applied;
  std::optional<history::Revision> changed;
  // What could not be found out, and why.
  std::vector<std::string> notes;
};

// `what` is KIND/NAME, as kubectl takes them. Fails if the object does not exist or cannot be read.
Task<Result<Trace>> trace(kube::Client& client, kube::Discovery& discovery, std::string what, std::string ns);

}  // namespace fairlead::status
