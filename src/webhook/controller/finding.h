// What a policy says about an object that is stored, as a condition and an Event. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "webhook/policy/policy.h"

namespace fairlead::webhook {

struct Finding {
  // For status.conditions.
  Json condition;
  // Null if nobody has to hear of it: an object that was valid from the start.
  Json event;
  // For the log: "DynamoModel team-a/llama is invalid: spec.modelName is required".
  std::string line;
};

// Decides on an object as if it were created now. Returns nothing if its condition says so already, or if the object is
// being deleted.
std::optional<Finding> find(const Registration& registration, const Json& object, WallTime now);

inline constexpr std::string_view kControllerName = "fairlead-webhook-controller";

}  // namespace fairlead::webhook
