#include "rollout/internal/nulls.h"

#include <algorithm>

#include "object/definition.h"
#include "rollout/core/placing.h"
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

// Returns the openAPIV3Schema of the object's version; null if it is not known.
const Json* find_schema(const object::Object& object, const manifest::Bundle& bundle,
                        const std::vector<Json>& definitions) {
  const Json* definition = find_definition(bundle, definitions, object.key());
  if (!definition || object::Definition(*definition).version(object.version()).is_null()) return nullptr;
  return &object::Definition(*definition).schema_of(object.version());
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
