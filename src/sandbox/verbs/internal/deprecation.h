// Versions of APIs that are deprecated, as the server tells its clients.
#pragma once

#include <optional>
#include <string>

#include "sandbox/core/kinds.h"

namespace fairlead::sandbox {

struct Deprecation {
  // Sent with each answer.
  std::string warning;
  // The release that no longer serves it; empty if that is not decided.
  std::string removed_in;
};
// Nothing if the version of this kind is not deprecated.
std::optional<Deprecation> deprecation_of(const Kind& kind);

}  // namespace fairlead::sandbox
