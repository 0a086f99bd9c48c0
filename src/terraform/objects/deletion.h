// Deletes one object and waits until it is deleted, or says what holds it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "object/resource.h"
#include "removal/removal.h"
#include "terraform/cluster/clusters.h"
#include "terraform/objects/reference.h"
#include "terraform/provider/log.h"

namespace fairlead::terraform {

struct Deletion {
  Reference reference;
  // The id of the resource; an object with another id is not deleted. Empty for any.
  std::string id;
  // Only the object with this uid; empty for any.
  std::string uid;
  removal::Cascade cascade = removal::Cascade::background;
  // Nothing: the default of the kind.
  std::optional<Duration> timeout;
  // Removes the finalizers of an object that is stuck.
  bool force = false;
};

struct Deleted {
  // Why the object is not deleted.
  std::optional<Error> error;
  // The object stays, because it is another resource's by now.
  std::optional<Error> left;
};

// Objects that are deleted at once cost two requests. For the others, the removal engine follows the deletion. What
// happens is written to the log. If the task is cancelled, the deletion that was requested goes on in the cluster.
Task<Deleted> delete_object(Connection& cluster, Log& log, Deletion deletion);

// Writes the events of an engine to the log of the provider.
journal::Journal::Reader log_reader(Log& log);

// Where finalizers may be removed, has it happen early enough for the deletion to end in time.
void force_in_time(removal::Options& options);

// A client for one rollout or removal, on the same connection. Such a run limits the time of every request of its
// client, and other resources send theirs with the client of the connection at the same time.
kube::Client client_of_run(Connection& cluster);

}  // namespace fairlead::terraform
