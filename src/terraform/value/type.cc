#include "terraform/value/type.h"

#include <algorithm>

namespace fairlead::terraform {
namespace {

// Terraform itself writes no type that is nearly as deep.
constexpr int kMaxTypeDepth = 100;

constexpr std::string_view kTypeNames[] = {"dynamic", "bool", "number", "string", "list",
                                           "set",     "map",  "object", "tuple"};

}  // namespace

struct Type::Rep {
  Kind kind;
  std::vector<Type> elements;
  Fields fields;
};

Type Type::simple(Kind kind) {
  return Type(std::make_shared<const Rep>(Rep{.kind = kind, .elements = {}, .fields = {}}));
}

Type Type::collection(Kind kind, Type element) {
  std::vector<Type> elements;
  elements.push_back(std::move(element));
  return Type(std::make_shared<const Rep>(Rep{.kind = kind, .elements = std::move(elements), .fields = {}}));
}

Type Type::dynamic() {
  static const Type type = simple(Kind::dynamic);
  return type;
}
Type Type::boolean() {
  static const Type type = simple(Kind::boolean);
  return type;
}
Type Type::number() {
  static const Type type = simple(Kind::number);
  return type;
}
Type Type::string() {
  static const Type type = simple(Kind::string);
  return type;
}
Type Type::list(Type element) { return collection(Kind::list, std::move(element)); }
Type Type::set(Type element) { return collection(Kind::set, std::move(element)); }
Type Type::map(Type element) { return collection(Kind::map, std::move(element)); }
Type Type::object(Fields fields) {
  return Type(std::make_shared<const Rep>(Rep{.kind = Kind::object, .elements = {}, .fields = std::move(fields)}));
}
Type Type::tuple(std::vector<Type> elements) {
  return Type(std::make_shared<const Rep>(Rep{.kind = Kind::tuple, .elements = std::move(elements), .fields = {}}));
}

Type::Kind Type::kind() const { return rep_->kind; }
const Type& Type::element() const { return rep_->elements.front(); }
const std::vector<Type>& Type::elements() const { return rep_->elements; }
const Type::Fields& Type::fields() const { return rep_->fields; }

bool Type::operator==(const Type& other) const {
  if (rep_ == other.rep_) return true;
  return rep_->kind == other.rep_->kind && rep_->elements == other.rep_->elements && rep_->fields == other.rep_->fields;
}

Result<Type> Type::from_json(const Json& json) { return from_json(json, 0); }

Result<Type> Type::from_json(const Json& json, int depth) {
  if (depth > kMaxTypeDepth) return fail(ErrorKind::limit, "a type is nested more than {} levels deep", kMaxTypeDepth);
  if (const std::string* name = json.if_string()) {
    if (*name == "dynamic") return dynamic();
    if (*name == "bool") return boolean();
    if (*name == "number") return number();
    if (*name == "string") return string();
    return fail(ErrorKind::protocol, "a type has an unknown name");
  }
  const Json::Array& parts = json.items();
  // Objects may have a third part: the names of attributes that are optional in the arguments of modules.
  if (parts.size() < 2 || parts.size() > 3) return fail(ErrorKind::protocol, "a type is neither a name nor a pair");
  std::string_view name = parts[0].string_or("");
  if (name == "object" && parts[1].is_object()) {
    Fields fields;
    for (const Json::Member& member : parts[1].members()) {
      TRY_ASSIGN(Type type, from_json(member.value, depth + 1));
      fields.insert_or_assign(member.key, std::move(type));
    }
    return object(std::move(fields));
  }
  if (name == "tuple" && parts[1].is_array()) {
    std::vector<Type> elements;
    for (const Json& item : parts[1].items()) {
      TRY_ASSIGN(Type type, from_json(item, depth + 1));
      elements.push_back(std::move(type));
    }
    return tuple(std::move(elements));
  }
  if (name != "list" && name != "set" && name != "map") return fail(ErrorKind::protocol, "a type has an unknown name");
  TRY_ASSIGN(Type element, from_json(parts[1], depth + 1));
  if (name == "list") return list(std::move(element));
  return name == "set" ? set(std::move(element)) : map(std::move(element));
}

Json Type::to_json() const {
  Json name(kTypeNames[size_t(kind())]);
  switch (kind()) {
    case Kind::list:
    case Kind::set:
    case Kind::map: return Json::Array{std::move(name), element().to_json()};
    case Kind::object: {
      Json::Object fields_json;
      for (const auto& [key, type] : fields()) fields_json.append(key, type.to_json());
      return Json::Array{std::move(name), std::move(fields_json)};
    }
    case Kind::tuple: {
      Json::Array elements_json;
      for (const Type& type : elements()) elements_json.push_back(type.to_json());
      return Json::Array{std::move(name), std::move(elements_json)};
    }
    default: return name;
  }
}

std::string Type::text() const {
  std::string name(kTypeNames[size_t(kind())]);
  bool has_element = is(Kind::list) || is(Kind::set) || is(Kind::map);
  return has_element ? name + " of " + element().text() : name;
}

}  // namespace fairlead::terraform
