#include "webhook/dynamo/internal/types.h"

#include <limits>

#include "base/printable.h"
#include "schema/types/quantity.h"

namespace fairlead::webhook::dynamo {
namespace {

bool is_whole_number(const Json& value) {
  const int64_t* number = value.if_int64();
  return number && *number >= std::numeric_limits<int32_t>::min() && *number <= std::numeric_limits<int32_t>::max();
}

// Numbers are quantities, too.
bool is_quantity(const Json& value) {
  if (const std::string* text = value.if_string())
    return text->empty() || schema::canonical_quantity(*text).has_value();
  return value.is_number();
}

bool has_type(const Json& value, Type type) {
  switch (type) {
    case Type::text: return value.is_string();
    case Type::flag: return value.is_bool();
    case Type::whole_number: return is_whole_number(value);
    case Type::quantity: return is_quantity(value);
    case Type::object:
    case Type::map: return value.is_object();
    case Type::list: return value.is_array();
  }
  return false;
}

std::string_view text_of(Type type) {
  switch (type) {
    case Type::text: return "a string";
    case Type::flag: return "true or false";
    case Type::whole_number: return "a whole number of at most 32 bits";
    case Type::quantity: return "a quantity such as 8Gi";
    case Type::object:
    case Type::map: return "an object";
    case Type::list: return "a list";
  }
  return "";
}

// A text that is no quantity is shown; otherwise the type says enough.
std::string found(const Json& value, Type type) {
  const std::string* text = value.if_string();
  if (text && type == Type::quantity) return fmt::format("\"{}\"", printable_line(text->substr(0, 100)));
  if (value.is_integer() && type == Type::whole_number) return value.dump();
  return std::string(value.type_name());
}

std::string wrong_in_object(const Json& value, const std::string& path, std::span<const Field> fields) {
  for (const Field& field : fields) {
    const Json& member = value[field.name];
    if (member.is_null()) continue;
    if (std::string wrong = wrong_type(member, fmt::format("{}.{}", path, field.name), field); !wrong.empty())
      return wrong;
  }
  return {};
}

std::string wrong_in_list(const Json& value, const std::string& path, const Field& field) {
  for (size_t i = 0; i < value.items().size(); ++i)
    if (std::string wrong = wrong_type(value.items()[i], fmt::format("{}[{}]", path, i), field); !wrong.empty())
      return wrong;
  return {};
}

std::string wrong_in_map(const Json& value, const std::string& path, const Field& field) {
  // The first by name, so that the message does not depend on the order of the members.
  std::map<std::string_view, const Json*> sorted;
  for (const Json::Member& member : value.members()) sorted.emplace(member.key, &member.value);
  for (const auto& [key, member] : sorted)
    if (std::string wrong = wrong_type(*member, fmt::format("{}[{}]", path, printable_line(key)), field);
        !wrong.empty())
      return wrong;
  return {};
}

}  // namespace

std::string wrong_type(const Json& value, const std::string& path, const Field& field) {
  if (!has_type(value, field.type))
    return fmt::format("{} must be {}, not {}", path, text_of(field.type), found(value, field.type));
  if (field.fields.empty()) return {};
  if (field.type == Type::list) return wrong_in_list(value, path, field.fields.front());
  if (field.type == Type::map) return wrong_in_map(value, path, field.fields.front());
  return wrong_in_object(value, path, field.fields);
}

}  // namespace fairlead::webhook::dynamo
