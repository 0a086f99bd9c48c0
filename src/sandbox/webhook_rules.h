// What is refused of a webhook configuration.
#pragma once

#include "sandbox/core.h"
#include "sandbox/status.h"

namespace fairlead::sandbox {

// One rule of a webhook, or of a policy's matchConstraints.
void check_admission_rule(const Json& rule, const std::string& at, std::vector<Cause>& causes);

void validate_webhooks(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes);

}  // namespace fairlead::sandbox
