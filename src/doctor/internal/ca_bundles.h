// Reads caBundles, for the checks of certificates.
#pragma once

#include <optional>
#include <vector>

#include "doctor/internal/backends.h"
#include "x509/x509.h"

namespace fairlead::doctor {

// Returns the certificates of the caBundle, or nothing if it cannot be read.
std::optional<std::vector<x509::Certificate>> roots_of(const Backend& backend);

// Returns when the last of the certificates expires. There must be one.
WallTime end_of(const std::vector<x509::Certificate>& roots);

}  // namespace fairlead::doctor
