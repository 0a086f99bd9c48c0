// How the items of a list are told apart.
#pragma once

#include <expected>
#include <string>

#include "fields/path_element.h"
#include "schema/types/type.h"

namespace fairlead::schema {

// By its keys, or by its value; an item that has neither is an error, in words. `list` must be associative.
std::expected<fields::PathElement, std::string> item_element(const Schema& schema, const Type& list, const Json& item);

// What a value can be under a type, as bits: where a type allows several forms, the value decides. A value that fits
// none of them, null, and none at all leave all that the type allows.
enum Form : unsigned { kMap = 1, kScalar = 2, kList = 4 };
unsigned forms_of(const Type& type, const Json* value);
// The one that it is taken for: the first of them in the order above; 0 for a type that allows nothing.
inline unsigned first_form(unsigned forms) { return forms & kMap ? kMap : forms & kScalar ? kScalar : forms; }

}  // namespace fairlead::schema
