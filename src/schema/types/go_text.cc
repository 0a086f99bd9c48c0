#include "schema/types/go_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/go_quoted.h"
#include "fields/path_element.h"

namespace fairlead::schema {
namespace {

// The shortest form that reads back the same; an exponent of two digits from 1e21 on and below 1e-4.
std::string number_text(double value) {
  double size = std::abs(value);
  bool exponent = size != 0 && (size < 1e-4 || size >= 1e21);
  char digits[400];
  auto [end, error] = std::to_chars(digits, digits + sizeof digits, value,
                                    exponent ? std::chars_format::scientific : std::chars_format::fixed);
  return std::string(digits, end);
}

std::vector<const Json::Member*> sorted(const Json& object) {
  std::vector<const Json::Member*> out;
  for (const Json::Member& member : object.members()) out.push_back(&member);
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  return out;
}

}  // namespace

std::string go_text(const Json& value) {
  if (const std::string* string = value.if_string()) return *string;
  if (const double* number = value.if_double()) return number_text(*number);
  if (value.is_null()) return "<nil>";
  std::string out;
  if (value.is_array()) {
    for (const Json& item : value.items()) out += (out.empty() ? "" : " ") + go_text(item);
    return "[" + out + "]";
  }
  if (value.is_object()) {
    for (const Json::Member* member : sorted(value))
      out += (out.empty() ? "" : " ") + member->key + ":" + go_text(member->value);
    return "map[" + out + "]";
  }
  return value.dump();
}

std::string go_syntax(const Json& value) {
  if (const std::string* string = value.if_string()) return go_quoted(*string);
  if (const double* number = value.if_double()) return number_text(*number);
  if (value.is_null()) return "interface {}(nil)";
  std::string out;
  if (value.is_array()) {
    for (const Json& item : value.items()) out += (out.empty() ? "" : ", ") + go_syntax(item);
    return "[]interface {}{" + out + "}";
  }
  if (value.is_object()) {
    for (const Json::Member* member : sorted(value))
      out += (out.empty() ? "" : ", ") + go_quoted(member->key) + ":" + go_syntax(member->value);
    return "map[string]interface {}{" + out + "}";
  }
  return value.dump();
}

std::string go_type(const Json& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_integer()) return "int64";
  if (value.is_double()) return "float64";
  if (value.is_array()) return "[]interface {}";
  return value.is_object() ? "map[string]interface {}" : "<nil>";
}

}  // namespace fairlead::schema
