// What is served, as clients ask for it: /api, /apis, /apis/GROUP, /apis/GROUP/VERSION, plain and aggregated.
#pragma once

#include "sandbox/core/call.h"
#include "sandbox/core/core.h"

namespace fairlead::sandbox {

// Nothing if the path is none of discovery.
std::optional<Outcome<Reply>> discover(const Core& core, const Call& call);

}  // namespace fairlead::sandbox
