#include "object/condition.h"

namespace fairlead::object {

const Json& condition(const Json& object, std::string_view type) {
  static const Json kNone;
  for (const Json& condition : object["status"]["conditions"].items())
    if (condition["type"].string_or("") == type) return condition;
  return kNone;
}

bool has_status(const Json& condition, std::string_view status) { return condition["status"].string_or("") == status; }

}  // namespace fairlead::object
