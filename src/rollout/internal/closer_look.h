// Takes a closer look at objects that failed, when the run is over: what their containers wrote last, and what
// Kubernetes warns of.
#pragma once

#include "rollout/core/run.h"
#include "rollout/rollout.h"

namespace fairlead::rollout {

// Adds findings to the causes of the ending, which are those of the run. Sends a limited number of requests, for a
// limited time; what cannot be read is left out.
Task<void> look_closer(kube::Client& client, const Run& run, Ending& ending);

// Returns the newest warnings among the Events of an object, each once: "BackOff: Back-off restarting failed container
// (5 times)". Events that are older than the run are left out. Pure.
std::vector<std::string> warnings_in(const std::vector<Json>& events, WallTime begun);

// Returns the last lines of a log, shortened to what people read. Pure.
std::vector<std::string> last_lines(std::string_view log);

}  // namespace fairlead::rollout
