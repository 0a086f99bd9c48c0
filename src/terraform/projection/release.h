// Gives fields back to the managers that had them before. Pure.
#pragma once

#include <string_view>

#include "base/json.h"
#include "fields/field_set.h"

namespace fairlead::terraform {

// The fields that this manager owns, by any operation.
fields::FieldSet owned_by(const Json& object, std::string_view manager);

// Returns who else owns these fields, as entries of managedFields that are cut down to them.
Json owners_among(const Json& object, const fields::FieldSet& fields, std::string_view manager);

// Returns metadata.managedFields in which `manager` does not own `released` any more, and the managers of `before`,
// which owners_among() returned, own them again. The values stay. Null if the manager owns none of them.
Json managed_fields_after_release(const Json& object, std::string_view manager, const fields::FieldSet& released,
                                  const Json& before);

}  // namespace fairlead::terraform
