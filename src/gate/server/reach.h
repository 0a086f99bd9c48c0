// Whether API servers reach the gate. Its pods can be ready before the network leads to them, and until then requests
// go on without it.
#pragma once

#include <string>

#include "kube/client.h"

namespace fairlead::gate {

// Makes an API server call the gate of that name, by a shadow (readiness/shadow.h), until it answers. A timeout says
// what the last call came to. Whoever may not make shadows is not told anything, and neither is one who asks for a gate
// that has no webhook configuration, as in a cluster without webhooks and CRDs.
Task<Result<void>> await_reach(kube::Client& client, std::string name, TimePoint deadline);

}  // namespace fairlead::gate
