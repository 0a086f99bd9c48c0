#include "pulumi/provider/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "pulumi/value/envelope.h"

namespace fairlead::pulumi {
namespace {

using terraform::Attribute;
using terraform::Nesting;
using terraform::Number;
using terraform::Path;
using terraform::Type;
using terraform::Value;

Result<Value> value_of(const Json& json, const Type& type);

std::unexpected<Error> wrong_kind(const Json& json, const Type& type) {
  return fail(ErrorKind::invalid, "it must be a {}, not {}", type.text(), json.type_name());
}

std::unexpected<Error> at(Error error, std::string_view where) {
  return fail(std::move(error).in(fmt::format("{} is wrong", where)));
}

Result<Value> text_of(const Json& json, const Type& type) {
  if (const std::string* text = json.if_string()) return Value(*text);
  if (json.is_bool() || json.is_number()) return Value(json.dump());
  return wrong_kind(json, type);
}

Result<Value> number_of(const Json& json, const Type& type) {
  if (json.is_number()) return Value::from_json(json);
  if (const std::string* text = json.if_string())
    if (std::optional<Number> number = Number::parse(*text)) return Value(*std::move(number));
  return wrong_kind(json, type);
}

Result<Value> flag_of(const Json& json, const Type& type) {
  if (const bool* flag = json.if_bool()) return Value(*flag);
  if (json.string_or("") == "true") return Value(true);
  if (json.string_or("") == "false") return Value(false);
  return wrong_kind(json, type);
}

Result<Value> items_of(const Json& json, const Type& type) {
  if (!json.is_array()) return wrong_kind(json, type);
  Value::Items items;
  for (const Json& one : json.items()) {
    Result<Value> item = value_of(one, type.element());
    if (!item) return at(std::move(item).error(), fmt::format("[{}]", items.size()));
    items.push_back(*std::move(item));
  }
  return type.is(Type::Kind::set) ? Value::set(std::move(items)) : Value::list(std::move(items));
}

Result<Value> map_of(const Json& json, const Type& type) {
  if (!json.is_object()) return wrong_kind(json, type);
  Value::Members members;
  for (const auto& [name, one] : json.members()) {
    Result<Value> member = value_of(one, type.element());
    if (!member) return at(std::move(member).error(), name);
    if (!member->is_null()) members.insert_or_assign(name, *std::move(member));
  }
  return Value::object(std::move(members));
}

Result<Value> object_of(const Json& json, const Type& type) {
  if (!json.is_object()) return wrong_kind(json, type);
  Value::Members members;
  std::map<std::string, std::string> attributes;
  for (const auto& [attribute, unused] : type.fields()) {
    attributes.emplace(camel_case(attribute), attribute);
    members.emplace(attribute, Value());
  }
  for (const auto& [name, one] : json.members()) {
    auto known = attributes.find(name);
    if (known == attributes.end()) return fail(ErrorKind::invalid, "there is no property \"{}\"", name);
    Result<Value> member = value_of(one, type.fields().find(known->second)->second);
    if (!member) return at(std::move(member).error(), name);
    members.insert_or_assign(known->second, *std::move(member));
  }
  return Value::object(std::move(members));
}

// Settings of a provider that are no texts come as JSON in a text.
Json parsed_if_text(const Json& json) {
  const std::string* text = json.if_string();
  Result<Json> parsed = text ? Json::parse(*text) : json;
  return parsed ? *std::move(parsed) : json;
}

Result<Value> value_of(const Json& json, const Type& type) {
  if (json.is_null()) return Value();
  if (is_unknown(json)) return Value::unknown();
  switch (type.kind()) {
    case Type::Kind::string: return text_of(json, type);
    case Type::Kind::number: return number_of(json, type);
    case Type::Kind::boolean: return flag_of(json, type);
    case Type::Kind::list:
    case Type::Kind::set: return items_of(parsed_if_text(json), type);
    case Type::Kind::map: return map_of(parsed_if_text(json), type);
    case Type::Kind::object: return object_of(parsed_if_text(json), type);
    case Type::Kind::dynamic:
    case Type::Kind::tuple: return Value::from_json(json);
  }
  return wrong_kind(json, type);
}

// The text that the core reads: JSON, which is YAML as well.
Result<Value> free_form_of(const Json& json, const FreeForm& form) {
  if (json.is_null()) return Value();
  if (has_unknowns(json)) return Value::unknown();
  if (form.is_list ? !json.is_array() : !json.is_object())
    return fail(ErrorKind::invalid, "it must be {}, not {}", form.is_list ? "a list of objects" : "an object",
                json.type_name());
  if (!form.is_list) return Value(json.dump());
  std::string text;
  for (const Json& one : json.items()) text += one.dump() + "\n---\n";
  return Value(std::move(text));
}

Json object_json(const Value& value, const Type& type) {
  Json::Object out;
  for (const auto& [name, member] : value.members()) {
    auto field = type.fields().find(name);
    if (member.is_null() || field == type.fields().end()) continue;
    out.append(camel_case(name), json_of(member, field->second));
  }
  return Json(std::move(out));
}

// Marks in `json`, the value of the attribute.
void mark_secrets(Json& json, const Attribute& attribute) {
  if (json.is_null() || is_secret(json) || is_unknown(json)) return;
  if (attribute.sensitive) {
    json = secret(std::move(json));
    return;
  }
  if (attribute.nesting != Nesting::single || !json.is_object()) return;
  for (const Attribute& nested : attribute.nested)
    if (Json* member = json.if_object()->find(camel_case(nested.name))) mark_secrets(*member, nested);
}

}  // namespace

ReadProperties read_properties(const Json& properties, const Facade& facade) {
  ReadProperties read{.value = facade.schema->null_value(), .problems = {}};
  auto take = [&](std::string_view property, std::string_view attribute, Result<Value> value) {
    if (value) read.value.make(attribute) = *std::move(value);
    else read.problems.error(fmt::format("{} is wrong", property), value.error().message(), Path(property));
  };
  for (const auto& [name, json] : properties.members()) {
    if (name == kBookkeeping) {
      if (facade.schema->find("id")) read.value.make("id") = Value::from_json(json["id"]);
      continue;
    }
    if (name.starts_with("__")) continue;
    Result<Json> plain = unwrapped(json);
    bool is_free_form = facade.free_form && facade.free_form->property == name;
    const Attribute* attribute =
        facade.attribute_of(is_free_form ? facade.property_of(facade.free_form->attribute) : name);
    if (!plain) {
      read.problems.error(plain.error(), Path(name));
    } else if (!attribute) {
      read.problems.error(fmt::format("There is no property \"{}\"", name),
                          fmt::format("{} does not have it.", facade.token()), Path(name));
    } else if (is_free_form && !plain->is_null() && !read.value[attribute->name].is_null()) {
      read.problems.error("There are two manifests",
                          fmt::format("Set either {} or {}.", name, facade.property_of(attribute->name)), Path(name));
    } else if (is_free_form) {
      take(name, attribute->name, free_form_of(*plain, *facade.free_form));
    } else if (!plain->is_null()) {
      if (!read.value[attribute->name].is_null())
        read.problems.error("There are two manifests",
                            fmt::format("Set either {} or {}.", facade.free_form->property, name), Path(name));
      take(name, attribute->name, value_of(*plain, attribute->whole_type()));
    }
  }
  return read;
}

Json write_properties(const Value& state, const Json& given, const Facade& facade) {
  Value inputs = read_properties(given, facade).value;
  bool is_confidential = facade.free_form && has_secrets(given[facade.free_form->property]);
  is_confidential =
      is_confidential || (facade.free_form && has_secrets(given[facade.property_of(facade.free_form->attribute)]));
  Json::Object out;
  for (const Attribute& attribute : facade.schema->attributes) {
    const Value& value = state[attribute.name];
    if (!facade.shows(attribute.name) || value.is_null()) continue;
    std::string property = facade.property_of(attribute.name);
    bool is_text = facade.free_form && facade.free_form->attribute == attribute.name;
    if (is_text && given.contains(facade.free_form->property)) property = facade.free_form->property;
    // A manifest with an unknown value in it is an unknown text, and the text can have another format.
    bool is_free_form = is_text && property == facade.free_form->property;
    bool is_given = is_free_form || (given.contains(property) && value == inputs[attribute.name]);
    Json json = is_given ? given[property] : json_of(value, attribute.whole_type());
    mark_secrets(json, attribute);
    bool is_derived = attribute.computed && !given.contains(property);
    static constexpr std::string_view kValues[] = {"managed_state_projection", "output_values", "result"};
    bool shows_values = std::ranges::find(kValues, attribute.name) != std::end(kValues);
    if (is_confidential && is_derived && shows_values && !is_secret(json)) json = secret(std::move(json));
    out.append(property, std::move(json));
  }
  return Json(std::move(out));
}

Json with_secrets_marked(Json inputs, const Facade& facade) {
  for (const Attribute& attribute : facade.schema->attributes)
    if (Json* value = inputs.if_object() ? inputs.if_object()->find(facade.property_of(attribute.name)) : nullptr)
      mark_secrets(*value, attribute);
  return inputs;
}

Json json_of(const Value& value, const Type& type) {
  if (value.is_unknown()) return Json(kUnknown);
  if (value.is_null()) return Json();
  if (type.is(Type::Kind::object)) return object_json(value, type);
  if (type.is(Type::Kind::map)) {
    Json::Object out;
    for (const auto& [name, member] : value.members()) out.append(name, json_of(member, type.element()));
    return Json(std::move(out));
  }
  if (type.is(Type::Kind::list) || type.is(Type::Kind::set)) {
    Json::Array out;
    for (const Value& item : value.items()) out.push_back(json_of(item, type.element()));
    return Json(std::move(out));
  }
  Result<Json> json = value.to_json();
  return json ? *std::move(json) : Json(kUnknown);
}

Json bookkeeping(std::string_view id, const Json& private_state) {
  return Json::Object{{"id", id}, {"private", private_state}};
}

}  // namespace fairlead::pulumi
