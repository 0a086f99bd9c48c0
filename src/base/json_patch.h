// Changes to a Json document that are Json themselves: JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386).
//
// Both as Kubernetes' API server applies them, its liberties included: `replace` adds a member that is not there,
// `copy` of nothing gives null, indices may be negative, and a merge patch drops nulls inside what it adds. Errors are
// in that server's words, since webhooks and users see them. A patch that wants more work, size or depth than is
// reasonable ends in ErrorKind::limit.
#pragma once

#include "base/error.h"
#include "base/json.h"

namespace fairlead {

// Whether it is a list of operations at all. What they say is looked at when they are applied.
Result<void> check_json_patch(const Json& patch);
Result<Json> apply_json_patch(Json document, const Json& patch);

Result<Json> apply_merge_patch(Json document, const Json& patch);

}  // namespace fairlead
