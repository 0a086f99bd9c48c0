// Finds the container whose log tells why a workload is not ready.
#pragma once

#include <optional>
#include <string>

#include "readiness/why.h"

namespace fairlead::readiness {

struct FailedContainer {
  std::string ns;
  std::string pod;
  std::string uid;
  std::string container;
  // The log of the instance before the last restart tells more.
  bool previous = false;
  // Of the instance that ended last, if one did.
  std::optional<int64_t> exit_code;
};

// Returns the container with the gravest trouble among the pods of the workload, or nothing if no container has run.
std::optional<FailedContainer> failed_container(const Json& workload, const Objects& pods);

}  // namespace fairlead::readiness
