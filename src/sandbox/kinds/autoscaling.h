// HorizontalPodAutoscalers are served in autoscaling/v1 and v2, and kept in v2. What v1 has no field for travels in
// annotations, as with the real server.
#pragma once

#include <string_view>

#include "base/json.h"
#include "sandbox/core/kinds.h"

namespace fairlead::sandbox {

bool is_autoscaler(const Kind& kind);

// The object in "autoscaling/v1" or "autoscaling/v2", with the defaults of that version.
Json autoscaler_in(const Json& object, std::string_view api_version);

}  // namespace fairlead::sandbox
