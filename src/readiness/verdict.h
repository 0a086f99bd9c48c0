// Is an object ready? From what the object itself says, and nothing else.
//
// This is the room's first header. readiness judges objects (here), finds out why a workload is not ready (why.h), says
// how long to wait for what (timeouts.h), and proves guards (shadow.h). This header, ready_when.h, why.h and timeouts.h
// are pure: no I/O, no clock. Objects are as the API server gives them, and hostile: every value gets a verdict.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::readiness {

enum class State {
  ready,
  in_progress,
  failed,
  terminating,
  unknown,  // not an object, or its own status is lost: a pod whose node is gone
};
// "ready", "in progress", "failed", "terminating", "unknown"
std::string_view name_of(State state);

struct Verdict {
  State state = State::unknown;
  // One line of words, never empty: "2 of 3 replicas are ready", "Job failed: BackoffLimitExceeded: …"
  std::string reason;
  // Only of what failed: no use waiting. Without it, the object's own controller may still mend it.
  bool permanent = false;

  bool operator==(const Verdict&) const = default;
};

// What an object does not say of itself.
struct Options {
  // A custom resource whose CRD has a status subresource, and whose controller should write to it: without a status yet
  // it is in progress. Many have no controller at all, so whoever sets this stops doing so after a while.
  bool status_expected = false;
  // The StorageClass of this claim has volumeBindingMode WaitForFirstConsumer: pending is as far as it gets by itself.
  bool binds_on_first_use = false;
};

// With the annotation fairlead.dev/ready-when (ready_when.h), that alone decides, but for an object that is on its way
// out. An annotation that cannot be read is a permanent failure.
Verdict judge(const Json& object, const Options& options = {});

}  // namespace fairlead::readiness
