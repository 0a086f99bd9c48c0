// CustomResourceDefinitions: what the server fills in and refuses.
#pragma once

#include "sandbox/core/core.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

void create_definition(Core& core, Json& object);
void update_definition(Core& core, const Json& live, Json& object);
void validate_definition(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes);

}  // namespace fairlead::sandbox
