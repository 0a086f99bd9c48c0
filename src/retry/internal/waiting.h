// Waits until what a command missed is there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retry/retry.h"
#include "wait/target.h"

namespace fairlead::retry {

// The webhooks of that name that are called through that Service, as targets. Empty if no configuration has one. Pure.
std::vector<wait::Target> registered(const kube::FaultWebhook& webhook, const std::vector<Json>& configurations);

// What is waited for, and how it was found.
struct Awaited {
  // Waited for until they are ready, and until they are functional.
  std::vector<wait::Target> ready;
  std::vector<wait::Target> functional;
  // The first webhook that no configuration has.
  std::optional<Missing> unregistered;
  // The first webhook whose Service is in a namespace that does not exist.
  std::optional<Missing> orphaned;
};

// Finds in the cluster what the missing parts are. Names that cannot be those of objects are left out.
Task<Awaited> find_awaited(const Cluster& cluster, const std::vector<Missing>& missing);

struct Waited {
  enum class How {
    there,         // everything is there
    time_is_over,  // something is not there in time
    unknown,       // it could not be found out
  };
  How how = How::there;
  // What was seen last, or why it could not be found out.
  std::string reason;
};

// Waits at most until `due`, or until `stop` is cancelled.
Task<Waited> wait_for(const Cluster& cluster, const Awaited& awaited, const Options& options, TimePoint due,
                      journal::Journal& journal, CancelSource* stop);

}  // namespace fairlead::retry
