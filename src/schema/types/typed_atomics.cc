#include "schema/types/typed.h"

namespace fairlead::schema {
namespace {

void collect(const Schema& schema, TypeId id, const Json& value, const std::string& path,
             std::vector<std::string>& found) {
  const Type& type = schema[id];
  if (value.is_object() && type.map != MapKind::none) {
    if (type.map == MapKind::atomic) found.push_back(path);
    for (const Json::Member& member : value.members())
      if (const Field* field = type.field(member.key))
        collect(schema, field->type, member.value, path + "." + member.key, found);
  }
  if (value.is_array() && type.list != ListKind::none) {
    if (type.list == ListKind::atomic) found.push_back(path);
    for (size_t i = 0; i < value.items().size(); ++i)
      collect(schema, type.item, value.items()[i], path + "[" + std::to_string(i) + "]", found);
  }
}

}  // namespace

std::vector<std::string> atomic_parts(const Schema& schema, const Json& object) {
  std::vector<std::string> found;
  collect(schema, schema.root, object, "", found);
  return found;
}

}  // namespace fairlead::schema
