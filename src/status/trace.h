// Follows an object to the bundle that it belongs to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inventory/membership.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "object/key.h"

namespace fairlead::status {

struct Trace {
  // The object, then its owners, outermost last: a Pod, its ReplicaSet, the Deployment that belongs to the bundle.
  std::vector<object::Key> chain;
  std::optional<inventory::BundleName> bundle;
  // A description of the owner if it is no bundle of Fairlead: an ApplySet of another tool, a release of Helm.
  std::string other_owner;
  // The field manager under which the bundle applies the object, and when it last changed it that way.
  std::string manager;
  std::string applied;
  // What could not be found out, and why.
  std::vector<std::string> notes;
};

// `what` is KIND/NAME, as kubectl takes them. Fails if the object does not exist or cannot be read.
Task<Result<Trace>> trace(kube::Client& client, kube::Discovery& discovery, std::string what, std::string ns);

}  // namespace fairlead::status
