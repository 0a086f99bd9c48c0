// Fields that the API server once filled in, and that it refuses beside what the manifest says now: the rollingUpdate
// of a Deployment whose strategy becomes Recreate. Server-side apply leaves them alone, because they are nobody's. A
// field manager that owns them first, and then applies a manifest without them, removes them.
#pragma once

#include <vector>

#include "base/json.h"
#include "kube/client.h"
#include "terraform/projection/projection.h"

namespace fairlead::terraform {

// Returns the fields for which the server has refused the manifest. Returns none if it refused anything else, or if
// such a field is in the manifest or has an owner. `owners` is what owners_of() says of the object.
std::vector<fields::Path> refused_defaults(const kube::Failure& failure, const Json& manifest, const Flat& owners);

// Returns what the manager has to apply so that it owns these fields as well, and changes nothing. Returns null for a
// field that this does not work for.
Json with_ownership_of(std::span<const fields::Path> places, const Json& live, std::string_view manager);

}  // namespace fairlead::terraform
