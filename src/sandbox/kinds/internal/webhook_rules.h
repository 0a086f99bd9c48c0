// What is refused of a webhook configuration, and what it is warned of.
#pragma once

#include "sandbox/core/core.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

// One rule of a webhook, or of a policy's matchConstraints.
void check_admission_rule(const Json& rule, const std::string& at, std::vector<Cause>& causes);

// Refuses a new configuration, policy or binding whose name is reserved for those that the API server reads from files.
void check_static_name(const Json* live, const Json& object, std::vector<Cause>& causes);

void validate_webhooks(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes);

// One warning per rule and resource that the rule names, although no webhook is ever called for it.
std::vector<std::string> webhook_warnings(const Json& object);

}  // namespace fairlead::sandbox
