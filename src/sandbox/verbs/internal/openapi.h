// OpenAPI v3, as far as kubectl needs it before it sends anything: which group versions there are, and that their
// writes take fieldValidation and dryRun. The schemas of the kinds are not in it.
#pragma once

#include "sandbox/core/call.h"
#include "sandbox/core/core.h"

namespace fairlead::sandbox {

// Nothing for a path that is not there.
std::optional<Reply> open_api(const Core& core, const Call& call);

}  // namespace fairlead::sandbox
