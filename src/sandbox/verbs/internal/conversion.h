// Objects from one version to another: custom resources by name alone, or by the webhook that the definition names.
#pragma once

#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

// All of them to that apiVersion, in order. Those that have it already are left alone.
Task<Outcome<Json::Array>> convert(ApiServer& server, const Kind& kind, std::string api_version, Json::Array objects);

}  // namespace fairlead::sandbox
