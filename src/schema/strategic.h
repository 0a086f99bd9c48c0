// Strategic merge patches: what `kubectl apply` (client-side), `kubectl edit` and `kubectl set` send for built-in
// kinds.
#pragma once

#include <expected>

#include "schema/types/refusal.h"
#include "schema/types/type.h"

namespace fairlead::schema {

// The object with the patch in it: lists are merged by their merge keys, and $patch, $retainKeys, $setElementOrder and
// $deleteFromPrimitiveList are followed. A patch that makes no sense is refused. For built-in kinds only.
std::expected<Json, Refusal> strategic_merge(const Schema& schema, const Json& object, const Json& patch);

}  // namespace fairlead::schema
