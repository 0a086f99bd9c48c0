#include "schema/defaults/defaults.h"

#include "schema/defaults/stored.h"

namespace fairlead::schema {
namespace {

class Filler {
 public:
  Filler(const Schema& schema, const DefaultRules& rules) : schema_(schema), rules_(rules) {}

  void visit(TypeId id, Json& value) const {
    const Type& type = schema_[id];
    if (Json::Array* list = value.if_array(); list && type.item != kNoType)
      for (Json& item : *list) visit(type.item, item);
    Json::Object* object = value.if_object();
    if (!object) return;
    for (const DefaultRule& rule : rules_.of(type.name)) rule.follow(value);
    for (const Field& field : type.fields) {
      // A default that is zero says something only where not to be set is something else.
      bool counts = field.fallback && (field.presence == Presence::kept || !is_zero(*field.fallback));
      if (counts && !object->contains(field.name)) object->append(field.name, *field.fallback);
    }
    for (Json::Member& member : *object)
      if (TypeId below = type.member(member.key); below != kNoType) visit(below, member.value);
  }

 private:
  const Schema& schema_;
  const DefaultRules& rules_;
};

}  // namespace

Json with_defaults(const Schema& schema, const Json& object, const DefaultRules& rules) {
  Json out = object;
  Filler(schema, rules).visit(schema.root, out);
  // What was added may have parts that are always written.
  return stored_form(schema, out);
}

}  // namespace fairlead::schema
