#include "terraform/projection/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "object/field_path.h"

namespace fairlead::terraform {
namespace {

using fields::Path;
using fields::PathElement;

bool is_plain_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Reads the text of a path from left to right.
class PlaceReader {
 public:
  explicit PlaceReader(std::string_view text) : text_(text) {}

  Result<Path> read() {
    if (text_.starts_with("$.") || text_.starts_with("$[")) at_ = 1;
    if (at_ == 0 && text_.starts_with('.')) at_ = 1;
    else if (at_ == 1 && peek() == '.') ++at_;
    Path path;
    bool needs_dot = false;
    while (at_ < text_.size()) {
      if (peek() == '[') {
        TRY_ASSIGN(PathElement element, read_brackets());
        path.push_back(std::move(element));
      } else {
        if (needs_dot && !take('.')) return wrong("expected '.' or '['");
        size_t start = at_;
        while (at_ < text_.size() && is_plain_key(text_[at_])) ++at_;
        if (at_ == start) return wrong("expected the name of a field");
        path.push_back(PathElement::field(text_.substr(start, at_ - start)));
      }
      needs_dot = true;
    }
    if (path.empty()) return wrong("it names no field");
    return path;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool take(char c) { return take(std::string_view(&c, 1)); }
  void skip_spaces() {
    while (peek() == ' ') ++at_;
  }
  std::unexpected<Error> wrong(std::string_view why) const {
    return fail(Error(ErrorKind::invalid, fmt::format("field path \"{}\": {} at character {}", text_, why, at_ + 1))
                    .next("write it like spec.replicas, data[\"config.yaml\"] or "
                          "spec.template.spec.containers[?(@.name=='web')].image"));
  }

  Result<PathElement> read_brackets() {
    take('[');
    skip_spaces();
    if (take("?(")) return read_filter();
    if (peek() == '"' || peek() == '\'') {
      TRY_ASSIGN(std::string key, read_quoted());
      return closed(PathElement::field(key));
    }
    if (take('=')) {
      TRY_ASSIGN(Json value, read_value());
      return closed(PathElement::value(std::move(value)));
    }
    if (peek() >= '0' && peek() <= '9') {
      int64_t index = 0;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), index);
      if (error != std::errc()) return wrong("the index is too large");
      at_ = size_t(end - text_.data());
      return closed(PathElement::index(index));
    }
    return read_keys();
  }

  Result<PathElement> closed(PathElement element) {
    skip_spaces();
    if (!take(']')) return wrong("expected ']'");
    return element;
  }

  // name="web",port=80]
  Result<PathElement> read_keys() {
    PathElement::Key key;
    do {
      skip_spaces();
      TRY_ASSIGN(std::string name, read_name());
      skip_spaces();
      if (!take('=')) return wrong("expected '='");
      skip_spaces();
      TRY_ASSIGN(Json value, read_value());
      key.push_back({std::move(name), std::move(value)});
      skip_spaces();
    } while (take(','));
    return closed(PathElement::key(std::move(key)));
  }

  // @.name=='web' && @.port==80)]
  Result<PathElement> read_filter() {
    PathElement::Key key;
    do {
      skip_spaces();
      if (!take("@.")) return wrong("expected '@.'");
      TRY_ASSIGN(std::string name, read_name());
      skip_spaces();
      if (!take("==")) return wrong("expected '=='");
      skip_spaces();
      TRY_ASSIGN(Json value, read_value());
      key.push_back({std::move(name), std::move(value)});
      skip_spaces();
    } while (take("&&"));
    if (!take(')')) return wrong("expected ')'");
    return closed(PathElement::key(std::move(key)));
  }

  Result<std::string> read_name() {
    size_t start = at_;
    while (at_ < text_.size() && is_plain_key(text_[at_])) ++at_;
    if (at_ == start) return wrong("expected the name of a field");
    return std::string(text_.substr(start, at_ - start));
  }

  // A text in quotes, a number, true or false.
  Result<Json> read_value() {
    if (peek() == '"' || peek() == '\'') {
      TRY_ASSIGN(std::string text, read_quoted());
      return Json(std::move(text));
    }
    size_t start = at_;
    while (at_ < text_.size() && (is_plain_key(text_[at_]) || text_[at_] == '.' || text_[at_] == '+')) ++at_;
    Result<Json> value = Json::parse(text_.substr(start, at_ - start));
    if (!value || value->is_null()) {
      at_ = start;
      return wrong("expected a value: a text in quotes, a number, true or false");
    }
    return value;
  }

  // A backslash takes the next character as it is.
  Result<std::string> read_quoted() {
    char quote = text_[at_];
    size_t start = at_++;
    std::string out;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_];
    }
    if (at_ >= text_.size()) {
      at_ = start;
      return wrong("a quote is not closed");
    }
    ++at_;
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append_value(std::string& out, const Json& value) {
  if (const std::string* text = value.if_string()) append_quoted(out, *text);
  else value.append_to(out);
}

bool has_keys(const Json& item, const PathElement::Key& key) {
  return std::ranges::all_of(key, [&](const PathElement::KeyField& field) {
    const Json* value = item.members().find(field.name);
    return value && fields::equal_values(*value, field.value);
  });
}

// The position of the item in the list, or nothing.
std::optional<size_t> position_of(const Json& list, const PathElement& element) {
  const Json::Array& items = list.items();
  if (const int64_t* index = element.if_index())
    return *index >= 0 && size_t(*index) < items.size() ? std::optional(size_t(*index)) : std::nullopt;
  auto found = std::ranges::find_if(items, [&](const Json& item) {
    if (const PathElement::Key* key = element.if_key()) return has_keys(item, *key);
    return element.if_value() && fields::equal_values(item, *element.if_value());
  });
  return found == items.end() ? std::nullopt : std::optional(size_t(found - items.begin()));
}

const Json* step_down(const Json& value, const PathElement& element) {
  if (const std::string* name = element.if_field()) return value.members().find(*name);
  std::optional<size_t> at = position_of(value, element);
  return at ? &value.items()[*at] : nullptr;
}

bool is_empty_container(const Json& value) {
  return (value.is_object() && value.members().empty()) || (value.is_array() && value.items().empty());
}

bool erase_step(Json& value, const PathElement& element) {
  if (const std::string* name = element.if_field()) {
    Json::Object* members = value.if_object();
    return members && members->erase(*name);
  }
  std::optional<size_t> at = position_of(value, element);
  if (!at) return false;
  Json::Array& items = *value.if_array();
  items.erase(items.begin() + ptrdiff_t(*at));
  return true;
}

}  // namespace

Result<Path> parse_place(std::string_view text) {
  constexpr size_t kMaxPath = 4096;
  if (text.size() > kMaxPath) return fail(ErrorKind::limit, "a field path has more than {} bytes", kMaxPath);
  return PlaceReader(text).read();
}

std::string text_of_place(std::span<const PathElement> path) {
  std::string out;
  for (const PathElement& element : path) {
    if (const std::string* name = element.if_field()) {
      if (!name->empty() && std::ranges::all_of(*name, is_plain_key)) {
        if (!out.empty()) out += '.';
        out += *name;
        continue;
      }
      out += '[';
      append_quoted(out, *name);
    } else if (const int64_t* index = element.if_index()) {
      out += fmt::format("[{}", *index);
    } else if (const Json* value = element.if_value()) {
      out += "[=";
      append_value(out, *value);
    } else if (const PathElement::Key* key = element.if_key()) {
      out += '[';
      for (const PathElement::KeyField& field : *key) {
        if (&field != &key->front()) out += ',';
        out += field.name;
        out += '=';
        append_value(out, field.value);
      }
    }
    out += ']';
  }
  return out;
}

const Json* find_place(const Json& object, std::span<const PathElement> path) {
  const Json* at = &object;
  for (const PathElement& element : path) {
    at = step_down(*at, element);
    if (!at) return nullptr;
  }
  return at;
}

bool is_within(const Json& object, std::span<const PathElement> outer, std::span<const PathElement> inner) {
  const Json* whole = find_place(object, outer);
  if (whole) {
    const Json* at = &object;
    for (const PathElement& element : inner) {
      at = step_down(*at, element);
      if (!at) break;
      if (at == whole) return true;
    }
  }
  return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

bool erase_place(Json& object, std::span<const PathElement> path) {
  if (path.empty()) return false;
  if (path.size() == 1) return erase_step(object, path[0]);
  Json* below = const_cast<Json*>(step_down(object, path[0]));
  if (!below || !erase_place(*below, path.subspan(1))) return false;
  if (is_empty_container(*below)) erase_step(object, path[0]);
  return true;
}

}  // namespace fairlead::terraform
