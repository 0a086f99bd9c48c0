// Why something did not work, down to the root, for people: what happened, because of what, and what to do next.
#pragma once

#include <optional>

#include "inventory/inventory.h"
#include "removal/causes.h"
#include "rollout/evidence.h"
#include "rollout/run.h"

namespace fairlead::rollout {

class Guards;

// `within`: it was waited for that long; nothing if it is certain.
Error guard_error(const Run& run, const Guards& guards, const Evidence& evidence, uint32_t guard,
                  std::optional<Duration> within);
Error refused_error(const Run& run, const Guards& guards, const Evidence& evidence, uint32_t node,
                    const kube::Failure& failure, std::optional<Duration> within);
// The object belongs to another bundle.
Error belongs_error(const Run& run, uint32_t node, const inventory::Owner& owner);
Error not_ready_error(const Run& run, const Evidence& evidence, uint32_t node, std::optional<Duration> within);

// A bundle whose record could not be written in all that time.
struct Unclaimed {
  std::string bundle;
  std::string home;
  std::string record;
  std::optional<uint32_t> guard;
  // This bundle has what the guard stands on, or what registers it.
  bool repairable = false;
  // Who may be at work on it, if anybody.
  std::string other;
};
Error unclaimed_error(const Run& run, const Evidence& evidence, const Unclaimed& unclaimed, const kube::Fault& fault,
                      Duration within);

// What a node waits for, in a line: "webhook v.example.com (ValidatingWebhookConfiguration x)".
std::string held_text(const Run& run, uint32_t node);

}  // namespace fairlead::rollout
