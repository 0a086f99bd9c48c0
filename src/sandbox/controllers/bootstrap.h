// What is there before anybody has asked for anything: namespaces, nodes, the service of the API server itself.
#pragma once

#include "sandbox/core/core.h"

namespace fairlead::sandbox {

void bootstrap(Core& core);

}  // namespace fairlead::sandbox
