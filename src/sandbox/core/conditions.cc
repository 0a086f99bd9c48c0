#include "sandbox/core/conditions.h"

namespace fairlead::sandbox {

const Json* find_condition(const Json& object, std::string_view type) {
  for (const Json& one : object["status"]["conditions"].items())
    if (one["type"].string_or("") == type) return &one;
  return nullptr;
}

bool condition_is_true(const Json& object, std::string_view type) {
  const Json* found = find_condition(object, type);
  return found && (*found)["status"].string_or("") == "True";
}

void set_condition(Json& object, Json condition) {
  Json& list = object.make("status").make("conditions");
  if (!list.is_array()) list = Json::Array{};
  for (Json& one : *list.if_array()) {
    if (one["type"] != condition["type"]) continue;
    if (one["status"] == condition["status"]) condition.make("lastTransitionTime") = one["lastTransitionTime"];
    one = std::move(condition);
    return;
  }
  list.if_array()->push_back(std::move(condition));
}

void drop_condition(Json& object, std::string_view type) {
  Json& list = object.make("status").make("conditions");
  if (Json::Array* conditions = list.if_array())
    std::erase_if(*conditions, [&](const Json& one) { return one["type"].string_or("") == type; });
}

}  // namespace fairlead::sandbox
