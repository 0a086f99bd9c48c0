#include "schema/defaults/stored.h"

#include <cmath>

#include "schema/types/list_item.h"
#include "schema/types/quantity.h"

namespace fairlead::schema {
namespace {

class Former {
 public:
  explicit Former(const Schema& schema) : schema_(schema) {}

  Json run(const Json& object) const { return visit(schema_.root, object, false); }

 private:
  // `own`: within one of the server's own types, not a custom one.
  Json visit(TypeId id, const Json& value, bool own, bool in_map = false) const {
    const Type& type = schema_[id];
    if (type.special == Special::quantity) return quantity(value, in_map);
    if (value.is_object() && type.map != MapKind::none)
      return type.fields.empty() ? map(type, value, own) : structure(type, value);
    if (value.is_array() && type.list != ListKind::none) {
      Json::Array out;
      out.reserve(value.items().size());
      for (const Json& item : value.items()) out.push_back(visit(type.item, item, own));
      return out;
    }
    // A number that is whole is written so, however it came.
    const double* number = value.if_double();
    if (number && std::abs(*number) < 9e15 && std::trunc(*number) == *number) return int64_t(*number);
    return value;
  }

  static Json quantity(const Json& value, bool in_map) {
    if (!value.is_string() && !value.is_number()) return value;
    auto text = canonical_quantity(value.is_string() ? *value.if_string() : value.dump(), in_map);
    return text ? Json(*std::move(text)) : value;
  }

  Json map(const Type& type, const Json& value, bool own) const {
    Json::Object out;
    for (const Json::Member& member : value.members()) {
      if (type.element == kNoType) out.append(member.key, member.value);
      // Go has no null but for what may be nil.
      else if (own && member.value.is_null() && schema_[type.element].scalar != Scalar::bytes)
        out.append(member.key, zero(type.element));
      else out.append(member.key, visit(type.element, member.value, own, true));
    }
    return out;
  }

  Json structure(const Type& type, const Json& value) const {
    Json::Object out;
    bool own = !type.name.empty();
    for (const Json::Member& member : value.members()) {
      const Field* field = type.field(member.key);
      if (!field) {
        if (type.element != kNoType) out.append(member.key, visit(type.element, member.value, own));
        continue;
      }
      // To the server's own types null is as good as absent; to a custom type it may be a value.
      if (member.value.is_null() && own) continue;
      Json formed = visit(field->type, member.value, own);
      if (field->presence == Presence::left_if_empty && is_zero(formed)) continue;
      out.append(member.key, std::move(formed));
    }
    for (const Field& field : type.fields) {
      if (field.presence == Presence::always && !out.contains(field.name)) out.append(field.name, zero(field.type));
      if (field.presence == Presence::null_if_unset && !out.contains(field.name)) out.append(field.name, Json());
    }
    return out;
  }

  Json zero(TypeId id) const {
    const Type& type = schema_[id];
    switch (type.special) {
      case Special::quantity: return "0";
      case Special::int_or_string: return 0;
      case Special::time: return nullptr;
      case Special::none: break;
    }
    if (type.map != MapKind::none && type.scalar == Scalar::none) return structure(type, Json::Object());
    switch (type.scalar) {
      case Scalar::string:
      case Scalar::bytes: return "";
      case Scalar::boolean: return false;
      case Scalar::number:
      case Scalar::int32:
      case Scalar::int64: return 0;
      default: return nullptr;
    }
  }

  const Schema& schema_;
};

}  // namespace

bool is_zero(const Json& value) {
  if (const std::string* string = value.if_string()) return string->empty();
  if (const int64_t* number = value.if_int64()) return *number == 0;
  if (const double* number = value.if_double()) return *number == 0;
  if (const bool* boolean = value.if_bool()) return !*boolean;
  if (value.is_uint64()) return false;
  return value.items().empty() && value.members().empty();
}

Json stored_form(const Schema& schema, const Json& object) { return Former(schema).run(object); }

Json empty_object(const Schema& schema, std::string_view api_version, std::string_view kind) {
  return stored_form(schema, Json::Object{{"apiVersion", api_version}, {"kind", kind}});
}

}  // namespace fairlead::schema
