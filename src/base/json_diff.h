// The difference of two Json values, as a JSON Patch (RFC 6902).
#pragma once

#include "base/json.h"

namespace fairlead {

// Returns the operations (`add`, `remove`, `replace`) that turn `before` into `after`; an empty list if they are the
// same but for the order of members. Lists are compared item by item, so the patch is correct but not always shortest.
Json json_patch_between(const Json& before, const Json& after);

}  // namespace fairlead
