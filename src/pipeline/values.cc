#include "pipeline/values.h"

#include "base/printable.h"
#include "config/assignments.h"
#include "object/field_path.h"

namespace fairlead::pipeline {
namespace {

constexpr size_t kShown = 100;
// So many defaults can be inside one another.
constexpr size_t kDeepest = 10;

Result<Json> substitute_at(std::string_view text, const Json& values, size_t depth);

// Where the expression that begins the text ends, which may have others in its default; npos if it is not closed.
size_t end_of(std::string_view text) {
  size_t open = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("$${")) i += 2;
    else if (text.substr(i).starts_with("${")) ++open, ++i;
    else if (text[i] == '}' && --open == 0) return i;
  }
  return std::string_view::npos;
}

// The value of what is between ${ and }.
Result<Json> value_of(std::string_view expression, const Json& values, size_t depth) {
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
  if (has_default) {
    std::string_view fallback = expression.substr(path_text.size() + 1);
    if (fallback.contains("${")) return substitute_at(fallback, values, depth + 1);
    return fallback.find_first_not_of(' ') == std::string_view::npos ? Json() : config::scalar_of(fallback);
  }
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

Result<void> set_values(Json& values, std::string_view text) {
  TRY_ASSIGN(std::vector<config::Assignment> assignments,
             config::parse_assignments(text, {.example = "kof.storage_class=fast"}));
  for (const config::Assignment& one : assignments) TRY(config::assign(values, one));
  return {};
}

namespace {

Result<Json> substitute_at(std::string_view text, const Json& values, size_t depth) {
  if (depth > kDeepest) return fail(ErrorKind::limit, "more than {} defaults are inside one another", kDeepest);
  bool is_one = text.starts_with("${") && text.ends_with('}') && end_of(text.substr(2)) == text.size() - 3;
  if (is_one) return value_of(text.substr(2, text.size() - 3), values, depth);
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
    size_t end = end_of(text);
    if (end == std::string_view::npos)
      return fail(Error(ErrorKind::invalid, "${ is not closed by }").next("write $${ for a plain ${"));
    std::string_view expression = text.substr(0, end);
    TRY_ASSIGN(Json value, value_of(expression, values, depth));
    TRY_ASSIGN(std::string part, text_of(value, expression));
    replaced += part;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<Json> substitute(std::string_view text, const Json& values) { return substitute_at(text, values, 0); }

}  // namespace fairlead::pipeline
