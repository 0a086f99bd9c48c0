// What is asked of a part of an object: scale, eviction, binding. status and finalize are updates like others
// (write.h).
#pragma once

#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

// The Scale of an object whose kind has that subresource.
Json scale_of(const Kind& kind, const Json& object);

Task<Outcome<Reply>> serve_subresource(ApiServer& server, Call& call, const Kind& kind, const Subresource& sub);

}  // namespace fairlead::sandbox
