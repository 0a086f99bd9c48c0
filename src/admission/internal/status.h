// The Status objects with which the API server ends a request in admission, word for word.
#pragma once

#include <string>
#include <string_view>

#include "admission/attributes.h"
#include "base/json.h"

namespace fairlead::admission {

// 500: "Internal error occurred: WHAT"
Json internal_error(std::string_view what);
// 400
Json bad_request(std::string_view what);
// 403: `configmaps "x" is forbidden: WHAT`; without a name where there is none yet.
Json forbidden(const GroupVersionResource& resource, std::string_view name, std::string_view what);
// 404: `namespaces "x" not found`
Json namespace_not_found(std::string_view name);
// 504, where the request's own time ends while a webhook is called
Json request_timed_out();

// What a call of a webhook ended with, after "failed calling webhook "NAME": ". Starts with "failed to call webhook: "
// where there was no answer that could be read, with "received invalid webhook response: " where it was no good.
std::string call_failure(std::string_view webhook, std::string_view tail);
Json call_failure_status(std::string_view webhook, std::string_view tail);
Json no_dry_run_status(std::string_view webhook);
// From the `status` of a response that does not allow it; null if it has none.
Json denial_status(std::string_view webhook, const Json& result);

// The name to call it by: its own, or the start of the one that the server will make, or "Unknown".
std::string name_for_messages(const Attributes& attributes);

}  // namespace fairlead::admission
