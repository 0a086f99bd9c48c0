// Builds the errors that people read: what happened, its causes down to the root, and what to do next.
#pragma once

#include <optional>

#include "inventory/inventory.h"
#include "removal/diagnosis/causes.h"
#include "rollout/core/run.h"
#include "rollout/guards/evidence.h"

namespace fairlead::rollout {

class Guards;

// `within`: how long the run waited before it gave up; empty if the failure is certain.
Error guard_error(const Run& run, const Guards& guards, const Evidence& evidence, GuardId guard,
                  std::optional<Duration> within);
Error refused_error(const Run& run, const Guards& guards, const Evidence& evidence, NodeId node,
                    const kube::Failure& failure, std::optional<Duration> within);
// For an object that belongs to another bundle.
Error belongs_error(const Run& run, NodeId node, const inventory::Owner& owner);
Error not_ready_error(const Run& run, const Evidence& evidence, NodeId node, std::optional<Duration> within);

// A bundle that could not be claimed, because its record could not be written in all that time.
struct Unclaimed {
  std::string bundle;
  std::string home;
  std::string record;
  std::optional<GuardId> guard;
  // The bundle contains objects that back the guard, or the object that registers it.
  bool repairable = false;
  // Who may be working on the bundle; empty if nobody is.
  std::string other;
};
Error unclaimed_error(const Run& run, const Evidence& evidence, const Unclaimed& unclaimed, const kube::Fault& fault,
                      Duration within);

// Says in one line what a node waits for: "webhook v.example.com (ValidatingWebhookConfiguration x)".
std::string held_text(const Run& run, NodeId node);

}  // namespace fairlead::rollout
