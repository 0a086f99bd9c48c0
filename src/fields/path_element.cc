#include "fields/path_element.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/go_quoted.h"
#include "fields/member_index.h"

namespace fairlead::fields {
namespace {

// A path element is a name or a few scalars. Anything larger is an attack.
constexpr Json::Limits kElementLimits{.bytes = 64 << 10, .depth = 16};

enum class Rank { number, string, boolean, list, object, null };

Rank rank_of(const Json& value) {
  if (value.is_number()) return Rank::number;
  if (value.is_string()) return Rank::string;
  if (value.is_bool()) return Rank::boolean;
  if (value.is_array()) return Rank::list;
  if (value.is_object()) return Rank::object;
  return Rank::null;
}

double as_double(const Json& value) {
  if (const int64_t* integer = value.if_int64()) return double(*integer);
  if (const uint64_t* integer = value.if_uint64()) return double(*integer);
  return *value.if_double();
}

std::strong_ordering compare_numbers(const Json& left, const Json& right) {
  if (left.is_int64() && right.is_int64()) return *left.if_int64() <=> *right.if_int64();
  if (left.is_uint64() && right.is_uint64()) return *left.if_uint64() <=> *right.if_uint64();
  double l = as_double(left), r = as_double(right);
  return l < r ? std::strong_ordering::less : l > r ? std::strong_ordering::greater : std::strong_ordering::equal;
}

std::strong_ordering compare_objects(const Json::Object& left, const Json::Object& right) {
  auto ls = sorted_members(left), rs = sorted_members(right);
  for (size_t i = 0; i < std::min(ls.size(), rs.size()); ++i) {
    // The value with the smaller key has a member that the other one lacks.
    if (auto order = ls[i]->key <=> rs[i]->key; order != 0) return order;
    if (auto order = compare_values(ls[i]->value, rs[i]->value); order != 0) return order;
  }
  return ls.size() <=> rs.size();
}

// Escapes HTML characters, as the server does for strings in an element. Names of fields are not escaped.
void append_html_safe(std::string& out, std::string_view text) {
  std::string plain;
  append_json_string(plain, text);
  for (size_t i = 0; i < plain.size(); ++i) {
    char c = plain[i];
    if (c == '<' || c == '>' || c == '&') out += fmt::format("\\u00{:02x}", static_cast<unsigned char>(c));
    else if (plain.compare(i, 3, "\xe2\x80\xa8") == 0) out += "\\u2028", i += 2;
    else if (plain.compare(i, 3, "\xe2\x80\xa9") == 0) out += "\\u2029", i += 2;
    else out += c;
  }
}

void append_value(std::string& out, const Json& value) {
  if (const std::string* string = value.if_string()) append_html_safe(out, *string);
  else value.append_to(out);
}

// Gives whole numbers one form, however they were written.
Json without_fraction(Json value) {
  const double* number = value.if_double();
  if (number && std::abs(*number) < 9e15 && std::trunc(*number) == *number) return Json(int64_t(*number));
  return value;
}

std::string value_text(const Json& value) {
  if (const std::string* string = value.if_string()) return go_quoted(*string);
  if (const double* number = value.if_double()) return fmt::format("{}", *number);
  if (const Json::Array* list = value.if_array()) {
    std::string out;
    for (const Json& item : *list) out += (out.empty() ? "" : ",") + value_text(item);
    return "[" + out + "]";
  }
  if (const Json::Object* object = value.if_object()) {
    std::string out;
    for (const Json::Member& member : *object) out += member.key + "=" + value_text(member.value);
    return out;
  }
  return value.dump();
}

Result<PathElement> parse_key(std::string_view text) {
  TRY_ASSIGN(Json json, Json::parse(text, kElementLimits));
  if (!json.is_object()) return fail(ErrorKind::invalid, "the keys of a list item are no object");
  PathElement::Key key;
  for (Json::Member& member : *json.if_object())
    key.push_back({std::move(member.key), without_fraction(std::move(member.value))});
  return PathElement::key(std::move(key));
}

}  // namespace

std::strong_ordering compare_values(const Json& left, const Json& right) {
  Rank rank = rank_of(left);
  if (auto order = rank <=> rank_of(right); order != 0) return order;
  switch (rank) {
    case Rank::number: return compare_numbers(left, right);
    case Rank::string: return *left.if_string() <=> *right.if_string();
    case Rank::boolean: return left.bool_or(false) <=> right.bool_or(false);
    case Rank::object: return compare_objects(left.members(), right.members());
    case Rank::null: return std::strong_ordering::equal;
    case Rank::list: break;
  }
  const Json::Array &ls = left.items(), &rs = right.items();
  for (size_t i = 0; i < std::min(ls.size(), rs.size()); ++i)
    if (auto order = compare_values(ls[i], rs[i]); order != 0) return order;
  return ls.size() <=> rs.size();
}

PathElement PathElement::key(Key key) {
  std::sort(key.begin(), key.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return PathElement(Value(std::move(key)));
}

Result<PathElement> PathElement::parse(std::string_view text) {
  auto wrong = [&](Error cause) {
    return fail(Error(ErrorKind::invalid, fmt::format("{} is no path element", go_quoted(text.substr(0, 80))))
                    .because(std::move(cause)));
  };
  if (text.size() < 2 || text[1] != ':')
    return wrong(Error(ErrorKind::invalid, "it does not start with a letter and a colon"));
  std::string_view rest = text.substr(2);
  switch (text[0]) {
    case 'f': return field(rest);
    case 'v': {
      Result<Json> json = Json::parse(rest, kElementLimits);
      if (!json) return wrong(std::move(json).error());
      return value(without_fraction(*std::move(json)));
    }
    case 'k': {
      Result<PathElement> element = parse_key(rest);
      if (!element) return wrong(std::move(element).error());
      return element;
    }
    case 'i': {
      int64_t position = 0;
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), position);
      if (error != std::errc() || end != rest.data() + rest.size())
        return wrong(Error(ErrorKind::invalid, "the position is no whole number"));
      return index(position);
    }
    default:
      return fail(ErrorKind::not_found, "path elements that start with {} are unknown", go_quoted(text.substr(0, 2)));
  }
}

std::string PathElement::dump() const {
  std::string out;
  if (const std::string* name = if_field()) return "f:" + *name;
  if (const int64_t* position = if_index()) return fmt::format("i:{}", *position);
  if (const Json* item = if_value()) {
    out = "v:";
    append_value(out, *item);
    return out;
  }
  out = "k:";
  char separator = '{';
  for (const KeyField& field : *if_key()) {
    out += separator;
    separator = ',';
    append_json_string(out, field.name);
    out += ':';
    append_value(out, field.value);
  }
  out += separator == '{' ? "{}" : "}";
  return out;
}

std::string PathElement::text() const {
  if (const std::string* name = if_field()) return "." + *name;
  if (const int64_t* position = if_index()) return fmt::format("[{}]", *position);
  if (const Json* item = if_value()) return fmt::format("[={}]", value_text(*item));
  std::string out;
  for (const KeyField& field : *if_key()) out += (out.empty() ? "" : ",") + field.name + "=" + value_text(field.value);
  return "[" + out + "]";
}

std::strong_ordering PathElement::operator<=>(const PathElement& other) const {
  if (auto order = value_.index() <=> other.value_.index(); order != 0) return order;
  if (const std::string* name = if_field()) return *name <=> *other.if_field();
  if (const int64_t* position = if_index()) return *position <=> *other.if_index();
  if (const Json* item = if_value()) return compare_values(*item, *other.if_value());
  const Key &ls = *if_key(), &rs = *other.if_key();
  for (size_t i = 0; i < std::min(ls.size(), rs.size()); ++i) {
    if (auto order = ls[i].name <=> rs[i].name; order != 0) return order;
    if (auto order = compare_values(ls[i].value, rs[i].value); order != 0) return order;
  }
  return ls.size() <=> rs.size();
}

std::string text_of(const Path& path) {
  std::string out;
  for (const PathElement& element : path) out += element.text();
  return out;
}

}  // namespace fairlead::fields
