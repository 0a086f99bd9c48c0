// Services: cluster IPs, node ports, load balancers' first state.
#pragma once

#include "sandbox/core/core.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

void create_service(Core& core, Json& object);
void update_service(Core& core, const Json& live, Json& object);
void validate_service(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes);

}  // namespace fairlead::sandbox
