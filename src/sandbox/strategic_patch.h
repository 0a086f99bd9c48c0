// Strategic merge patches: merge patches that know which lists are merged, and by which key. For built-in kinds only.
#pragma once

#include "sandbox/status.h"
#include "schema/type.h"

namespace fairlead::sandbox {

// With `$patch`, `$retainKeys`, `$deleteFromPrimitiveList/...` and `$setElementOrder/...` (whose order is not
// enforced).
Outcome<Json> apply_strategic_patch(const schema::Schema& schema, const Json& document, const Json& patch);

}  // namespace fairlead::sandbox
