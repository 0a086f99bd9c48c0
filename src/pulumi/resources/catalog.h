// What the provider for Pulumi offers, and its own configuration.
//
// This is the room's first header. Resources and functions are those of the core; a facade says which of their
// attributes Pulumi has means of its own for, such as `protect` and `customTimeouts`.
#pragma once

#include "pulumi/provider/facade.h"

namespace fairlead::pulumi {

Catalog whole_catalog();

// The settings of the provider: how to connect to the cluster.
Facade provider_facade();

}  // namespace fairlead::pulumi
