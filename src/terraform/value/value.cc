#include "terraform/value/value.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::terraform {
namespace {

const Value& null_value() {
  static const Value value;
  return value;
}

const Value& unknown_value() {
  static const Value value = Value::unknown();
  return value;
}

Number number_of(const Json& json) {
  if (const int64_t* value = json.if_int64()) return *value;
  if (const uint64_t* value = json.if_uint64()) return *value;
  // The decimal that was written, not the double nearest to it.
  return Number::parse(json.dump()).value_or(Number());
}

std::unexpected<Error> not_a(const Type& type, const Json& json) {
  return fail(ErrorKind::invalid, "it must be a {}, not {}", type.text(), json.type_name());
}

// Terraform writes primitive values of one type where another is wanted, and so do old states.
Result<Value> primitive_of(const Json& json, const Type& type) {
  std::string_view text = json.string_or("");
  switch (type.kind()) {
    case Type::Kind::boolean:
      if (json.is_bool()) return Value(json.bool_or(false));
      if (text == "true" || text == "false") return Value(text == "true");
      break;
    case Type::Kind::number:
      if (json.is_number()) return Value(number_of(json));
      if (std::optional<Number> number = Number::parse(text)) return Value(*std::move(number));
      break;
    default:
      if (json.is_string()) return Value(text);
      if (json.is_number()) return Value(number_of(json).text());
      if (json.is_bool()) return Value(json.bool_or(false) ? "true" : "false");
      break;
  }
  return not_a(type, json);
}

bool same_in_any_order(const Value::Items& some, const Value::Items& others) {
  return some.size() == others.size() && std::ranges::is_permutation(some, others);
}

std::unexpected<Error> inside(Error error, std::string_view where) {
  return fail(std::move(error).in(fmt::format("{} is wrong", where)));
}

}  // namespace

Value Value::unknown() {
  Value value;
  value.value_ = Unknown();
  return value;
}

Value Value::list(Items items) {
  Value value;
  value.value_ = List{std::move(items)};
  return value;
}

Value Value::set(Items items) {
  Value value;
  value.value_ = Set{std::move(items)};
  return value;
}

Value Value::object(Members members) {
  Value value;
  value.value_ = std::move(members);
  return value;
}

bool Value::is_wholly_known() const {
  if (is_unknown()) return false;
  if (!std::ranges::all_of(items(), &Value::is_wholly_known)) return false;
  return std::ranges::all_of(members(), [](const auto& member) { return member.second.is_wholly_known(); });
}

bool Value::bool_or(bool fallback) const {
  const bool* value = if_bool();
  return value ? *value : fallback;
}

int64_t Value::int_or(int64_t fallback) const {
  const Number* value = if_number();
  return value ? value->as_int64().value_or(fallback) : fallback;
}

std::string_view Value::string_or(std::string_view fallback) const {
  const std::string* value = if_string();
  return value ? std::string_view(*value) : fallback;
}

const Value::Items& Value::items() const {
  static const Items none;
  if (const auto* list = std::get_if<List>(&value_)) return list->items;
  const auto* set = std::get_if<Set>(&value_);
  return set ? set->items : none;
}

Value::Items* Value::if_items() {
  if (auto* list = std::get_if<List>(&value_)) return &list->items;
  auto* set = std::get_if<Set>(&value_);
  return set ? &set->items : nullptr;
}

const Value::Members& Value::members() const {
  static const Members none;
  const auto* members = std::get_if<Members>(&value_);
  return members ? *members : none;
}

const Value& Value::operator[](std::string_view name) const {
  if (is_unknown()) return unknown_value();
  const Members& all = members();
  auto found = all.find(name);
  return found == all.end() ? null_value() : found->second;
}

const Value& Value::item(size_t index) const {
  if (is_unknown()) return unknown_value();
  const Items& all = items();
  return index < all.size() ? all[index] : null_value();
}

Value& Value::make(std::string_view name) {
  if (!is_object()) value_ = Members();
  auto& members = std::get<Members>(value_);
  auto found = members.find(name);
  if (found == members.end()) found = members.emplace(name, Value()).first;
  return found->second;
}

Value Value::with_type(Type type) && {
  dynamic_type_ = std::move(type);
  return std::move(*this);
}

Type Value::natural_type() const {
  if (dynamic_type_) return *dynamic_type_;
  if (if_bool()) return Type::boolean();
  if (if_number()) return Type::number();
  if (if_string()) return Type::string();
  if (is_object()) {
    Type::Fields fields;
    for (const auto& [name, value] : members()) fields.emplace(name, value.natural_type());
    return Type::object(std::move(fields));
  }
  if (!is_known()) return Type::dynamic();
  std::vector<Type> elements;
  for (const Value& item : items()) elements.push_back(item.natural_type());
  return Type::tuple(std::move(elements));
}

Value Value::from_json(const Json& json) {
  if (json.is_bool()) return json.bool_or(false);
  if (json.is_number()) return number_of(json);
  if (const std::string* text = json.if_string()) return *text;
  if (json.is_object()) {
    Members members;
    for (const Json::Member& member : json.members()) members.insert_or_assign(member.key, from_json(member.value));
    return object(std::move(members));
  }
  if (!json.is_array()) return {};
  Items items;
  for (const Json& item : json.items()) items.push_back(from_json(item));
  return list(std::move(items));
}

Result<Value> Value::from_state_json(const Json& json, const Type& type) {
  if (json.is_null()) return Value();
  switch (type.kind()) {
    case Type::Kind::dynamic: {
      if (!json.is_object() || !json.contains("type")) return not_a(type, json);
      TRY_ASSIGN(Type own, Type::from_json(json["type"]));
      TRY_ASSIGN(Value value, from_state_json(json["value"], own));
      if (own.is(Type::Kind::dynamic)) return value;
      return std::move(value).with_type(std::move(own));
    }
    case Type::Kind::list:
    case Type::Kind::set:
    case Type::Kind::tuple: {
      if (!json.is_array()) return not_a(type, json);
      bool is_tuple = type.is(Type::Kind::tuple);
      const Json::Array& all = json.items();
      if (is_tuple && all.size() != type.elements().size())
        return fail(ErrorKind::invalid, "it must have {} elements, not {}", type.elements().size(), all.size());
      Items items;
      items.reserve(all.size());
      for (size_t i = 0; i < all.size(); ++i) {
        Result<Value> item = from_state_json(all[i], is_tuple ? type.elements()[i] : type.element());
        if (!item) return inside(std::move(item).error(), fmt::format("[{}]", i));
        items.push_back(*std::move(item));
      }
      return type.is(Type::Kind::set) ? set(std::move(items)) : list(std::move(items));
    }
    case Type::Kind::map:
    case Type::Kind::object: {
      if (!json.is_object()) return not_a(type, json);
      bool is_map = type.is(Type::Kind::map);
      Members members;
      if (!is_map)
        for (const auto& [name, unused] : type.fields()) members.emplace(name, Value());
      for (const Json::Member& member : json.members()) {
        auto field = is_map ? type.fields().end() : type.fields().find(member.key);
        if (!is_map && field == type.fields().end())
          return fail(ErrorKind::invalid, "there is no attribute \"{}\"", member.key);
        Result<Value> value = from_state_json(member.value, is_map ? type.element() : field->second);
        if (!value) return inside(std::move(value).error(), member.key);
        members.insert_or_assign(member.key, *std::move(value));
      }
      return object(std::move(members));
    }
    default: return primitive_of(json, type);
  }
}

Result<Json> Value::to_json() const {
  if (is_null()) return Json();
  if (const bool* value = if_bool()) return Json(*value);
  if (const std::string* value = if_string()) return Json(*value);
  if (const Number* value = if_number()) {
    if (std::optional<int64_t> integer = value->as_int64()) return Json(*integer);
    if (std::optional<uint64_t> integer = value->as_uint64()) return Json(*integer);
    return Json(value->nearest_double());
  }
  if (is_object()) {
    Json::Object out;
    for (const auto& [name, value] : members()) {
      TRY_ASSIGN(Json json, value.to_json());
      out.append(name, std::move(json));
    }
    return Json(std::move(out));
  }
  if (is_unknown()) return fail(ErrorKind::invalid, "a value is not known yet");
  Json::Array out;
  for (const Value& item : items()) {
    TRY_ASSIGN(Json json, item.to_json());
    out.push_back(std::move(json));
  }
  return Json(std::move(out));
}

bool Value::operator==(const Value& other) const {
  if (value_.index() != other.value_.index()) return false;
  if (dynamic_type_ && other.dynamic_type_ && *dynamic_type_ != *other.dynamic_type_) return false;
  if (is_set()) return same_in_any_order(items(), other.items());
  if (is_list()) return items() == other.items();
  if (is_object()) return members() == other.members();
  if (const Number* number = if_number()) return *number == *other.if_number();
  if (const std::string* text = if_string()) return *text == *other.if_string();
  if (const bool* value = if_bool()) return *value == *other.if_bool();
  return true;
}

}  // namespace fairlead::terraform
