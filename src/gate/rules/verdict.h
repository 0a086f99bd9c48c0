// What a request has to wait for.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gate/rules/exemption.h"
#include "gate/rules/health.h"
#include "gate/rules/hook.h"
#include "gate/rules/kinds.h"
#include "webhook/policy/policy.h"

namespace fairlead::gate {

// A webhook that requests wait for at the moment.
struct AwaitedHook {
  const Hook* hook = nullptr;
  Phase phase = Phase::coming_up;
  TimePoint until;
  Finding finding;
};

// What the gate knows of the cluster when a request arrives.
struct Knowledge {
  std::span<const AwaitedHook> awaited;
  // The namespaces of the Services of these webhooks.
  const std::set<std::string, std::less<>>& backing;
  const CustomKinds& kinds;
  // The Namespace of the request, or null if there is none or it is not known.
  Json ns_object;
};

// The webhooks in the way of a request.
struct Wait {
  // Ids of hooks.
  std::vector<std::string> hooks;
  // When the patience with the last one of them is used up.
  TimePoint until;
  // Nothing is proved yet: the request may be held for a moment, and is not refused.
  bool is_provisional = true;
  // Of the first one: "webhook v.example.com (ValidatingWebhookConfiguration widgets)", its name, and what is the
  // matter with it.
  std::string text;
  std::string name;
  Finding finding;
};

// Decides which of the awaited webhooks the API server would call for the request, exactly as the rollout does
// (admission/match.h). A webhook whose match cannot be decided here is not waited for. Requires a request that is not
// exempt. Returns nothing if no webhook is in the way.
std::optional<Wait> wait_for(const webhook::Request& request, const Knowledge& knowledge);

// What a user reads on a refused request: which webhook, what is the matter, and the next command.
std::string refusal_text(const Wait& wait);

}  // namespace fairlead::gate
