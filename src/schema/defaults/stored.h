// Objects as the API server keeps and returns them, whatever they were sent as.
#pragma once

#include "schema/types/type.h"

namespace fairlead::schema {

// The object after a trip through the server's own types: fields that it does not know are gone, those that are zero
// are left out or written as the type has it, quantities are in their one form. Custom resources are kept as they are,
// but for their metadata. What does not fit its type is left alone: refuse it before.
Json stored_form(const Schema& schema, const Json& object);

// The same for an object that has nothing yet but its kind: what a new object is compared with.
Json empty_object(const Schema& schema, std::string_view api_version, std::string_view kind);

// Whether the value says nothing: zero, "", false, null, empty.
bool is_zero(const Json& value);

}  // namespace fairlead::schema
