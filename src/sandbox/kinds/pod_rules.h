// Pods: what the server fills in and refuses, and what its admission adds for their service account.
#pragma once

#include "sandbox/core/core.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

void create_pod(Core& core, Json& object);
void validate_pod(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes);
void validate_pod_spec(const Json& spec, const std::string& at, std::vector<Cause>& causes);

// The account's token volume, default tolerations, priority. Refused if the account is not there.
Outcome<void> admit_pod(Core& core, const Place& place, Json& object);

}  // namespace fairlead::sandbox
