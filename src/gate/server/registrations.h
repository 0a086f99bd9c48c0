// Keeps the gate's own webhook configurations: makes those that are missing, then deletes those that are too many.
//
// Every replica fills gaps, so that a kind is not forgotten while nobody holds the Lease. Only the replica that leads
// replaces and deletes: two replicas of different versions would undo each other's work.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "gate/server/gate.h"

namespace fairlead::gate {

struct RegistrationsOptions {
  // Whether this replica is the one that replaces and deletes.
  std::function<bool()> leads;
  // What API servers must trust, base64; empty while it is not known.
  std::function<std::string()> ca_bundle;
  // Whether a caBundle is needed at all.
  bool needs_ca = true;
  // Between two looks if nothing changes.
  Duration pause = std::chrono::seconds(1);
  std::function<void(std::string_view level, const std::string& line)> say = {};
};

// Runs until it is cancelled. All must outlive it.
Task<void> keep_registrations(kube::Client& client, Gate& gate, RegistrationsOptions options);

object::Resource mutating_configurations();

}  // namespace fairlead::gate
