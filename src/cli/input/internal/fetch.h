// Manifests from http and https addresses.
#pragma once

#include <string>

#include "async/real_loop.h"
#include "async/task.h"

namespace fairlead::cli {

// What is at the address; follows redirects, but never from https to http. User and password of the address are sent to
// its server alone, and neither they nor the query are part of any error. Against the certificates of the system.
// An error of kind timeout if that takes longer than `limit`.
Task<Result<std::string>> fetch(RealLoop& loop, std::string address, size_t max_bytes, Duration limit);

}  // namespace fairlead::cli
