// How long an API server asks its clients to wait before they send a request again.
#pragma once

#include <optional>

#include "base/clock.h"
#include "http/message.h"

namespace fairlead::kube {

// Returns the time that a Status names in its details, an hour at most. Nothing if it names none.
std::optional<Duration> retry_after_of(const Json& status);

// Returns the time that the header Retry-After names, an hour at most. Nothing without the header, or if it does not
// hold a number of seconds.
std::optional<Duration> retry_after_of(const http::Headers& headers);

}  // namespace fairlead::kube
