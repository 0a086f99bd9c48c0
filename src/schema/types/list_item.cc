#include "schema/types/list_item.h"

#include <fmt/format.h>

#include "base/go_quoted.h"

namespace fairlead::schema {
namespace {

std::expected<fields::PathElement, std::string> keyed(const Schema& schema, const Type& list, const Json& item) {
  if (item.is_null()) return std::unexpected("associative list with keys may not have a null element");
  if (!item.is_object()) return std::unexpected("associative list with keys may not have non-map elements");
  const Type& type = schema[list.item];
  fields::PathElement::Key key;
  for (const std::string& name : list.keys) {
    if (const Json* value = item.members().find(name)) {
      key.push_back({name, *value});
      continue;
    }
    if (type.map == MapKind::none)
      return std::unexpected(
          fmt::format("couldn't find default value for {}: associative list may not have non-map types", name));
    const Field* field = type.field(name);
    if (field && field->fallback && !field->fallback->is_null()) key.push_back({name, *field->fallback});
  }
  if (key.empty()) {
    std::string names;
    for (const std::string& name : list.keys) names += (names.empty() ? "" : " ") + go_quoted(name);
    return std::unexpected(fmt::format(
        "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for "
        "any key fields)",
        names));
  }
  return fields::PathElement::key(std::move(key));
}

}  // namespace

std::expected<fields::PathElement, std::string> item_element(const Schema& schema, const Type& list, const Json& item) {
  if (!list.keys.empty()) return keyed(schema, list, item);
  if (item.is_object()) return std::unexpected("associative list without keys has an element that's a map type");
  if (item.is_array()) return std::unexpected("not supported: associative list with lists as elements");
  if (item.is_null()) return std::unexpected("associative list without keys has an element that's an explicit null");
  return fields::PathElement::value(item);
}

unsigned forms_of(const Type& type, const Json* value) {
  unsigned all = (type.map != MapKind::none ? kMap : 0u) | (type.scalar != Scalar::none ? kScalar : 0u) |
                 (type.list != ListKind::none ? kList : 0u);
  if (!value) return all;
  unsigned form = value->is_object() ? kMap : value->is_array() ? kList : value->is_null() ? 0u : kScalar;
  return all & form ? form : all;
}

}  // namespace fairlead::schema
