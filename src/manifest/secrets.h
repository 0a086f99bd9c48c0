// What of a bundle must not reach any text.
#pragma once

#include "base/secrets.h"
#include "manifest/manifest.h"

namespace fairlead::manifest {

// The values of its Secrets, but for those that are names or namespaces of its objects as well.
Secrets secrets_of(const Bundle& bundle);

}  // namespace fairlead::manifest
