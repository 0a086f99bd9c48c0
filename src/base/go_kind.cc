#include "base/go_kind.h"

namespace fairlead {

std::string_view go_kind(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_bool()) return "bool";
  if (value.is_number()) return "number";
  if (value.is_string()) return "string";
  return value.is_array() ? "array" : "object";
}

}  // namespace fairlead
