// Warning headers, as an API server sends them: `299 - "text"` (RFC 7234, 5.5).
#pragma once

#include <string>
#include <vector>

#include "http/message.h"

namespace fairlead::kube {

// The texts, in order, without repetitions. What is not well-formed is passed over.
std::vector<std::string> read_warnings(const http::Headers& headers);

}  // namespace fairlead::kube
