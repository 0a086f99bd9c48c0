// The webhook configurations that Fairlead itself makes in a cluster. They guard nothing.
#pragma once

#include <string_view>

#include "base/json.h"

namespace fairlead::admission {

// The label of the gate's configurations; its value is the name of the gate.
inline constexpr std::string_view kGateLabel = "fairlead.dev/gate";

// True for the configurations of a gate, which let every request pass in the end, and for those that prove others for a
// moment (shadows).
bool is_of_fairlead(const Json& configuration);

}  // namespace fairlead::admission
