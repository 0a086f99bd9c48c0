// Paths that are about the server rather than its objects: /version, /healthz, /openapi.
#pragma once

#include "sandbox/core/call.h"
#include "sandbox/core/core.h"

namespace fairlead::sandbox {

std::optional<Reply> plain_path(const Core& core, const Call& call);

}  // namespace fairlead::sandbox
