// The types of the fields that the rules read.
//
// The API server checks them by the schema of the CRD before it asks a webhook. A controller, or a CRD of another
// origin, can bring anything.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::webhook::dynamo {

enum class Type : uint8_t { text, flag, whole_number, quantity, object, list, map };

struct Field {
  // Empty for the items of a list and the values of a map.
  std::string_view name;
  Type type;
  // Of an object; of a list or map, the one that describes each of its values.
  std::span<const Field> fields = {};
};

// Returns what is wrong with the first field that has another type, such as "spec.replicas must be a whole number, not
// string", or nothing. `path` is what the message calls `value`. A field that is null is not there; an item of a list
// or map may not be null.
std::string wrong_type(const Json& value, const std::string& path, const Field& field);

}  // namespace fairlead::webhook::dynamo
