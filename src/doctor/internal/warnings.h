// What Warning Events tell: requests that webhooks made fail, and rights that are missing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "doctor/snapshot.h"

namespace fairlead::doctor {

// The objects of one webhook that could not be written because it did not answer.
struct Victims {
  std::vector<object::Key> objects;
  // The newest Event: "FailedCreate: …".
  std::string newest;
  std::string when;
};
// By the webhook's name. Events of the last hour count.
std::map<std::string, Victims> victims_of_webhooks(const Snapshot& snapshot);

// The newest Warning Event of the last hour about the object: "ProvisioningFailed: …". Empty if there is none.
std::string newest_warning(const Snapshot& snapshot, const object::Key& key);

// One right that somebody was refused.
struct Denial {
  // "system:serviceaccount:team:app"
  std::string user;
  std::string verb;
  // "deployments.apps"
  std::string resource;
  // Empty for the whole cluster.
  std::string ns;
  auto operator<=>(const Denial&) const = default;
};
// Reads what an API server says when a right is missing. Returns nothing for any other text.
std::optional<Denial> read_denial(std::string_view message);

}  // namespace fairlead::doctor
