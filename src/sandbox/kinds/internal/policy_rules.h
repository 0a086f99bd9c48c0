// What is refused of ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings.
#pragma once

#include "sandbox/core/core.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

void validate_policy(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes);
void validate_binding(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes);

void validate_mutating_policy(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes);
void validate_mutating_binding(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes);

}  // namespace fairlead::sandbox
