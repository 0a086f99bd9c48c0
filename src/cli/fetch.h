// Manifests from http and https addresses.
#pragma once

#include <string>

#include "base/real_loop.h"
#include "base/task.h"

namespace fairlead::cli {

// What is at the address; follows redirects. Without credentials, against the system's certificates.
Task<Result<std::string>> fetch(RealLoop& loop, std::string address, size_t max_bytes);

}  // namespace fairlead::cli
