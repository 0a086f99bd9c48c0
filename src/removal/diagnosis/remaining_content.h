// Finds the objects that are left in a namespace whose deletion makes no progress.
#pragma once

#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/discovery.h"
#include "removal/diagnosis/stuck.h"

namespace fairlead::removal {

struct RemainingObject {
  object::Key key;
  object::Resource resource;
  Json object;

  // The object's finalizers: "acme.dev/cleanup, acme.dev/more"
  std::string finalizers() const;
};

struct RemainingContent {
  // Objects that are being deleted and wait for finalizers.
  std::vector<RemainingObject> held;
  // How many other objects there are. Events do not count.
  size_t others = 0;
  // Kinds that cannot be listed: "widgets.example.com".
  std::vector<std::string> unread;
};

// Sends one LIST per kind in that namespace.
Task<RemainingContent> find_remaining_content(kube::Client& client, kube::Discovery& discovery, std::string ns);

// Returns what cannot be reached and so cannot be deleted: "objects that APIService v1.example.com serves". Empty if
// everything can be. Pure.
std::string unreachable_text(const Evidence& evidence, const RemainingContent& left);

}  // namespace fairlead::removal
