// Simulates a server-side apply, for users who may not ask the API server for a dry run. Pure.
#pragma once

#include <expected>

#include "inventory/unchanged.h"
#include "schema/apply.h"

namespace fairlead::inventory {

// Returns the object that the API server would store, or its refusal (a conflict, or fields that do not fit the
// schema). `live` is the whole object as it was read in the API version of `wanted`; null if there is none. Defaults
// are filled in where they are known; rules of validation, webhooks and policies are not considered. For a kind without
// a schema, the members of `wanted` replace those of `live`, and nothing is removed.
std::expected<Json, schema::Refusal> applied(const Json& wanted, const Json& live, const schema::Writer& writer,
                                             Types& types);

}  // namespace fairlead::inventory
