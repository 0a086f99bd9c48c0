// One call of a webhook by an API server: the Service looked up and the request sent; what goes wrong on the way is
// told in the words of the real server.
#pragma once

#include <expected>

#include "admission/review.h"
#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

// Whatever came back; or `Post "https://...": connection refused`. `client_config` is that of a webhook or of a
// conversion.
Task<std::expected<admission::Answer, std::string>> call_webhook(ApiServer& server, Json client_config, Json review,
                                                                 Duration timeout);

}  // namespace fairlead::sandbox
