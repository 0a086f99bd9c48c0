// The manifest of one object, as the user wrote it into an attribute. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secrets.h"
#include "object/object.h"
#include "terraform/projection/projection.h"

namespace fairlead::terraform {

// Reads a text with exactly one object. `attribute` is what errors call the text. Refuses lists, generateName, the
// status, and metadata that only the API server or this provider sets.
Result<object::Object> read_body(std::string_view text, std::string_view attribute);

// Returns the object as it is applied: for the resource with this id, and without the ignored fields if the object
// exists already.
Json as_applied(const object::Object& object, std::string_view id, const FieldRules& rules, bool exists);

// Returns what must not reach any text: the data of a Secret, and the sensitive fields.
Secrets secrets_of(const object::Object& object, const FieldRules& rules);

}  // namespace fairlead::terraform
