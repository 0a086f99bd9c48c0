#include "pipeline/values.h"

#include "base/printable.h"
#include "object/field_path.h"
#include "yaml/yaml.h"

namespace fairlead::pipeline {
namespace {

constexpr size_t kShown = 100;

// What a plain text means in YAML: 3 is a number, true is a boolean. Null for an empty text.
Json scalar_of(std::string_view text) {
  if (text.find_first_not_of(' ') == std::string_view::npos) return {};
  Result<Json> value = yaml::parse_one(text, "value");
  bool is_scalar = value && !value->is_array() && !value->is_object() && !value->is_null();
  return is_scalar ? *std::move(value) : Json(text);
}

// The value of what is between ${ and }.
Result<Json> value_of(std::string_view expression, const Json& values) {
  std::string_view path_text = expression.substr(0, expression.find(':'));
  std::string shown = printable_line(path_text.substr(0, kShown));
  Result<object::FieldPath> path = object::FieldPath::parse(path_text);
  if (!path || path->empty())
    return fail(Error(ErrorKind::invalid, fmt::format("${{{}}} is not the path of a value", shown))
                    .next("write it like ${kof.mothership.namespace:kof}, and $${ for a plain ${"));
  const Json& found = path->get(values);
  bool has_default = path_text.size() < expression.size();
  bool is_empty = found.is_null() || (has_default && found == Json(""));
  if (!is_empty) return found;
  if (has_default) return scalar_of(expression.substr(path_text.size() + 1));
  return fail(Error(ErrorKind::invalid, fmt::format("the value {} is missing", shown))
                  .because("no file of values has it, and it has no default here")
                  .next(fmt::format("add it to a file of values, give --set {}=VALUE, or write ${{{}:DEFAULT}}", shown,
                                    shown)));
}

Result<std::string> text_of(const Json& value, std::string_view expression) {
  if (value.is_null()) return "";
  if (const std::string* text = value.if_string()) return *text;
  if (!value.is_array() && !value.is_object()) return value.dump();
  return fail(ErrorKind::invalid, "the value {} is {}, and cannot be part of a text",
              printable_line(expression.substr(0, std::min(expression.find(':'), kShown))),
              value.is_array() ? "a list" : "a mapping");
}

}  // namespace

void merge(Json& values, const Json& other) {
  if (!values.is_object() || !other.is_object()) {
    values = other;
    return;
  }
  for (const Json::Member& member : other.members()) merge(values.make(member.key), member.value);
}

Result<void> set_value(Json& values, std::string_view text) {
  size_t equals = text.find('=');
  auto wrong = [&](std::string why) {
    return fail(Error(ErrorKind::invalid, fmt::format("--set: {}", why)).next("write it like kof.storage_class=fast"));
  };
  if (equals == std::string_view::npos || equals == 0)
    return wrong(fmt::format("\"{}\" is not PATH=VALUE", printable_line(text.substr(0, kShown))));
  std::string_view path_text = text.substr(0, equals);
  Result<object::FieldPath> path = object::FieldPath::parse(path_text);
  if (!path) return wrong(path.error().message());
  Json* place = &values;
  for (const object::FieldPath::Step& step : path->steps()) {
    const std::string* key = std::get_if<std::string>(&step);
    if (!key) return wrong(fmt::format("{} is in a list, and only members of mappings can be set", path_text));
    place = &place->make(*key);
  }
  Json value = scalar_of(text.substr(equals + 1));
  *place = value.is_null() ? Json("") : std::move(value);
  return {};
}

Result<Json> substitute(std::string_view text, const Json& values) {
  bool is_one = text.starts_with("${") && text.find('}') == text.size() - 1;
  if (is_one) return value_of(text.substr(2, text.size() - 3), values);
  std::string replaced;
  while (true) {
    size_t at = text.find("${");
    if (at == std::string_view::npos) return Json(replaced + std::string(text));
    bool is_escaped = at > 0 && text[at - 1] == '$';
    replaced += text.substr(0, is_escaped ? at - 1 : at);
    text.remove_prefix(at + 2);
    if (is_escaped) {
      replaced += "${";
      continue;
    }
    size_t end = text.find('}');
    if (end == std::string_view::npos)
      return fail(Error(ErrorKind::invalid, "${ is not closed by }").next("write $${ for a plain ${"));
    std::string_view expression = text.substr(0, end);
    TRY_ASSIGN(Json value, value_of(expression, values));
    TRY_ASSIGN(std::string part, text_of(value, expression));
    replaced += part;
    text.remove_prefix(end + 1);
  }
}

}  // namespace fairlead::pipeline
