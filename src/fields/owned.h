// Tells which part of a live object a manager owns, and whether applying a configuration again would change anything.
//
// It works without a schema, from the field set alone. If that is not enough to be sure, the answer is that something
// may change, and the object is sent.
#pragma once

#include <string_view>

#include "fields/field_set.h"

namespace fairlead::fields {

// Returns the part of the object that is in the set: whole fields that are owned, and the path to them. List items keep
// their order. Items that are identified by keys also keep these keys.
Json owned_part(const Json& object, const FieldSet& set);

// Returns true only if the manager has applied exactly this configuration before and every value is still there. The
// API server would then answer an apply with the object as it is.
bool is_unchanged(const Json& configuration, const Json& live, std::string_view manager);

}  // namespace fairlead::fields
