// Objects within custom resources (x-kubernetes-embedded-resource).
#include <fmt/format.h>

#include <algorithm>

#include "schema/validation/structural.h"

namespace fairlead::schema {
namespace {

void check_name(const Json& object, std::string_view field, const std::string& path, std::vector<Cause>& causes) {
  std::string at = fmt::format("{}.{}", path, field);
  auto wrong = [&](std::string_view why) {
    causes.push_back({"FieldValueInvalid", at, fmt::format("Invalid value: {}: {}", object[field].dump(), why)});
  };
  if (!object.contains(field)) causes.push_back({"FieldValueRequired", at, "Required value"});
  else if (!object[field].is_string()) wrong("must be a string");
  else if (object[field].string_or("").empty()) wrong("must not be empty");
  else if (std::ranges::count(*object[field].if_string(), '/') > 1 && field == "apiVersion")
    wrong(fmt::format("unexpected GroupVersion string: {}", *object[field].if_string()));
}

void visit(const Json& schema, const Json& value, const std::string& path, std::vector<Cause>& causes) {
  if (!schema.is_object()) return;
  for (size_t i = 0; i < value.items().size(); ++i)
    visit(schema["items"], value.items()[i], fmt::format("{}[{}]", path, i), causes);
  if (!value.is_object()) return;
  if (schema["x-kubernetes-embedded-resource"].bool_or(false))
    for (std::string_view field : {"apiVersion", "kind"}) check_name(value, field, path, causes);
  for (const Json::Member& member : value.members()) {
    if (const Json* property = schema["properties"].members().find(member.key))
      visit(*property, member.value, path.empty() ? member.key : path + "." + member.key, causes);
    else visit(schema["additionalProperties"], member.value, fmt::format("{}[{}]", path, member.key), causes);
  }
}

}  // namespace

std::vector<Cause> embedded_violations(const Json& schema, const Json& object) {
  std::vector<Cause> causes;
  visit(schema, object, "", causes);
  return causes;
}

}  // namespace fairlead::schema
