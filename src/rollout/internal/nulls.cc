#include "rollout/internal/nulls.h"

#include <algorithm>

#include "schema/types/builtin.h"
#include "schema/validation/structural.h"

namespace fairlead::rollout {
namespace {

bool has_null(const Json& value) {
  if (value.is_null()) return true;
  return std::ranges::any_of(value.members(), [](const Json::Member& member) { return has_null(member.value); }) ||
         std::ranges::any_of(value.items(), has_null);
}

void drop_unset(Json& value, const schema::Schema& schema, schema::TypeId id) {
  if (id == schema::kNoType) return;
  const schema::Type& type = schema[id];
  if (Json::Array* list = value.if_array())
    for (Json& item : *list) drop_unset(item, schema, type.item);
  Json::Object* object = value.if_object();
  if (!object) return;
  Json::Object kept;
  for (Json::Member& member : *object) {
    if (member.value.is_null() && type.field(member.key) != nullptr) continue;
    drop_unset(member.value, schema, type.member(member.key));
    kept.append(member.key, std::move(member.value));
  }
  *object = std::move(kept);
}

bool defines(const Json& definition, const object::Object& object) {
  const Json& spec = definition["spec"];
  return spec["group"].string_or("") == object.group() && spec["names"]["kind"].string_or("") == object.kind();
}

// Returns the openAPIV3Schema of the object's version; null if it is not known.
const Json* find_schema(const object::Object& object, const manifest::Bundle& bundle,
                        const std::vector<Json>& definitions) {
  auto in = [&](const Json& definition) -> const Json* {
    for (const Json& version : definition["spec"]["versions"].items())
      if (version["name"].string_or("") == object.version()) return &version["schema"]["openAPIV3Schema"];
    return nullptr;
  };
  for (const object::Object& other : bundle.objects)
    if (other.group() == "apiextensions.k8s.io" && defines(other.value(), object)) return in(other.value());
  for (const Json& definition : definitions)
    if (defines(definition, object)) return in(definition);
  return nullptr;
}

// Metadata is the same for all kinds, whatever their schema says.
void drop_in_metadata(Json& value) {
  Json::Object* metadata = value.make("metadata").if_object();
  Json::Object kept;
  for (Json::Member& member : *metadata)
    if (!member.value.is_null()) kept.append(member.key, std::move(member.value));
  *metadata = std::move(kept);
}

}  // namespace

void drop_nulls(manifest::Bundle& bundle, const std::vector<Json>& definitions) {
  for (object::Object& object : bundle.objects) {
    if (!has_null(object.value())) continue;
    schema::SchemaPtr built_in = schema::builtin_schema(object.group(), object.version(), object.kind());
    if (built_in) drop_unset(object.edit(), *built_in, built_in->root);
    else if (const Json* schema = find_schema(object, bundle, definitions))
      object.edit() = schema::without_unwanted_nulls(*schema, object.value());
    drop_in_metadata(object.edit());
  }
}

}  // namespace fairlead::rollout
