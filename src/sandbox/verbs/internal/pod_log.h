// The logs of pods: what the annotation sandbox.fairlead.dev/logs says that each of their containers writes.
#pragma once

#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

// GET pods/NAME/log. A log that is followed ends with its container.
Task<Outcome<Reply>> get_log(ApiServer& server, Call& call, const Kind& kind);

}  // namespace fairlead::sandbox
