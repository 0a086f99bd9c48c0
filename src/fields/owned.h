// What a manager owns of a live object, and whether applying a configuration again would change anything.
//
// Works without a schema, from the set of fields alone. That is enough to be sure of "unchanged"; wherever it is not,
// the answer is "in doubt", and the object is sent.
#pragma once

#include <string_view>

#include "fields/field_set.h"

namespace fairlead::fields {

// The part of the object that the set names: owned fields whole, and the way to them. List items keep their order and,
// where they are found by their keys, these keys.
Json owned_part(const Json& object, const FieldSet& set);

// True only if the manager has applied exactly this configuration to the live object before and every value is still
// there: the API server would answer such an apply with the object as it is.
bool is_unchanged(const Json& configuration, const Json& live, std::string_view manager);

}  // namespace fairlead::fields
