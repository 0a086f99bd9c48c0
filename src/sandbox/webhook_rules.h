// What is refused of a webhook configuration.
#pragma once

#include "sandbox/core.h"
#include "sandbox/status.h"

namespace fairlead::sandbox {

void validate_webhooks(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes);

}  // namespace fairlead::sandbox
