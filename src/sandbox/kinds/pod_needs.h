// What a pod needs before it can run: nodes that it may go to, ConfigMaps, Secrets and volumes that it names.
#pragma once

#include <optional>
#include <string>

#include "sandbox/core/core.h"

namespace fairlead::sandbox {

// A node for it, or why there is none, as the scheduler says it.
struct Scheduling {
  std::string node;
  std::string problem;
};
Scheduling schedule(Core& core, const Json& pod);

// What keeps its containers from being started: a volume's source (the pod stays as it is) or something in a
// container's environment (the container waits with CreateContainerConfigError).
struct Missing {
  bool volume = false;
  std::string what;
};
std::optional<Missing> missing_for(const Core& core, const Json& pod);

}  // namespace fairlead::sandbox
