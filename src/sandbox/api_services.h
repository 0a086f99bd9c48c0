// APIServices: those that the server serves itself, and those that point to a Service.
#pragma once

#include <string>
#include <vector>

#include "sandbox/core.h"

namespace fairlead::sandbox {

struct ServedElsewhere {
  std::string group, version;
  bool available = false;
};

// The group versions that an APIService hands to a Service. The sandbox has no such servers: nothing of them is served.
std::vector<ServedElsewhere> served_elsewhere(const Core& core);

// Those of the groups that come with the server, and after every change those of a group that definitions serve.
void register_builtin(Core& core);
void register_custom(Core& core, std::string_view group);

// The Available condition that an APIService has now: by its Service and that one's endpoints.
Json available_condition(const Core& core, const Json& api_service);

}  // namespace fairlead::sandbox
