// Decides from an object alone whether it is ready.
//
// This is the room's first header. The room judges objects (here), finds out why a workload is not ready (why.h), knows
// how long to wait for which kind (timeouts.h), and proves guards (shadow.h). This header, ready_when.h, why.h and
// timeouts.h are pure: they do no I/O and read no clock. Objects come from the API server and may be hostile, so every
// value gets a verdict.
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
  unknown,  // not an object, or its status is lost, such as a pod whose node does not answer
};
// "ready", "in progress", "failed", "terminating" or "unknown".
std::string_view name_of(State state);

struct Verdict {
  State state = State::unknown;
  // One line of text, never empty, for example "2 of 3 replicas are ready" or "Job failed: BackoffLimitExceeded: …".
  std::string reason;
  // Set only for a failed object: waiting is pointless. Otherwise the object's controller may still repair it.
  bool permanent = false;

  bool operator==(const Verdict&) const = default;
};

// Facts about an object that it does not contain itself.
struct Options {
  // The object is a custom resource whose CRD has a status subresource, so a controller is expected to write the
  // status. Until then the object is in progress. Many custom resources have no controller at all, so callers stop
  // setting this after a while.
  bool status_expected = false;
  // The StorageClass of this claim has volumeBindingMode WaitForFirstConsumer. The claim stays pending until a pod uses
  // it, so it counts as ready.
  bool binds_on_first_use = false;
};

// Judges an object. If it has the annotation fairlead.dev/ready-when (ready_when.h), the object is ready once the
// annotation is met; the rules of its kind can still find that it failed. An object that is being deleted is
// terminating in any case. An annotation that cannot be parsed is a permanent failure.
Verdict judge(const Json& object, const Options& options = {});

}  // namespace fairlead::readiness
