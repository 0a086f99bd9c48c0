// Checks stored objects by the policies of a set, while no webhook does: writes the condition Valid and Events.
//
// This is the room's first header. The controller watches every resource of the set, decides on each object as if it
// were created now (finding.h), and says what it found in the object's status by server-side apply, and in an Event
// when the verdict has changed. It can only say that an object is invalid: transition rules belong into the CRD.
//
// It is safe beside the operator whose resources these are: it writes one condition, under a field manager of its own,
// only if it says something new, and never takes a field over from another manager. If somebody removes the condition
// again and again, it gives up until the object changes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kube/client.h"
#include "webhook/policy/policy.h"

namespace fairlead::webhook {

struct ControllerOptions {
  // Empty: all namespaces.
  std::string ns;
  // After a write that failed, and after a watch that ended because the resource does not exist.
  Duration retry = std::chrono::seconds(10);
  // For people: what was found, and what went wrong.
  std::function<void(const std::string& line)> tell;
};

// Runs until it is cancelled. The client must outlive it.
Task<void> control(kube::Client& client, PolicySet set, ControllerOptions options);

}  // namespace fairlead::webhook
