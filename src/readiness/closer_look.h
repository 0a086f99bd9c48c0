// Takes a closer look at an object that failed: what its containers wrote last, and what Kubernetes warns of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "journal/journal.h"
#include "kube/client.h"
#include "object/key.h"

namespace fairlead::readiness {

// A run looks at the objects of so many causes, at most, and for so long in all.
inline constexpr size_t kCausesLookedAt = 5;
inline constexpr Duration kLookTime = std::chrono::seconds(5);

struct LookedAt {
  object::Key key;
  // The object with its uid, and with its selector if it has pods: a workload, a Pod or a Service.
  Json object;
  // Warnings that are older are left out.
  WallTime since = WallTime::min();
};

// Returns the last lines of the container with the gravest trouble and the newest Warning Events, of the object and of
// that container's pod. Sends at most four requests; what cannot be read is left out.
Task<std::vector<journal::Finding>> look_closer(kube::Client& client, LookedAt what);

// Returns when an Event was last seen; nothing if it does not say so. Pure, as are the others.
std::optional<WallTime> event_time(const Json& event);

// Returns the newest warnings among the Events of an object, each once: "BackOff: Back-off restarting failed container
// (5 times)". Events that are older than `since` are left out.
std::vector<std::string> warnings_in(const std::vector<Json>& events, WallTime since);

// Returns the last lines of a log, shortened to what people read.
std::vector<std::string> last_lines(std::string_view log);

}  // namespace fairlead::readiness
