#include "schema/types/type.h"

#include <algorithm>

namespace fairlead::schema {

const Field* Type::field(std::string_view field_name) const {
  auto place = std::lower_bound(fields.begin(), fields.end(), field_name,
                                [](const Field& a, std::string_view b) { return a.name < b; });
  return place != fields.end() && place->name == field_name ? &*place : nullptr;
}

TypeId Type::member(std::string_view member_name) const {
  const Field* found = field(member_name);
  return found ? found->type : element;
}

}  // namespace fairlead::schema
