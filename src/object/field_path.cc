#include "object/field_path.h"

#include <algorithm>
#include <charconv>

namespace fairlead::object {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '$';
}

std::unexpected<Error> wrong(std::string_view text, size_t at, std::string_view why) {
  return fail(ErrorKind::invalid, "field path \"{}\": {} at character {}", text, why, at + 1);
}

// A key in brackets and quotes; a backslash takes the next character as it is. `at` is moved behind the closing quote.
Result<std::string> take_quoted(std::string_view text, size_t& at) {
  char quote = text[at];
  size_t start = at;
  std::string key;
  for (++at; at < text.size() && text[at] != quote; ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    key += text[at];
  }
  if (at == text.size()) return wrong(text, start, "a quote is not closed");
  ++at;
  return key;
}

}  // namespace

Result<FieldPath> FieldPath::parse(std::string_view text) {
  FieldPath path;
  size_t at = text.starts_with("$.") || text.starts_with("$[") || text == "$" ? 1 : 0;
  bool first = at == 0;
  if (first && text.starts_with('.')) first = false;
  if (text == ".") return path;
  while (at < text.size()) {
    if (text[at] == '[') {
      ++at;
      if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
        TRY_ASSIGN(std::string key, take_quoted(text, at));
        path.steps_.emplace_back(std::move(key));
      } else {
        size_t index = 0;
        auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), index);
        if (error != std::errc()) return wrong(text, at, "expected an index or a quoted key");
        at = size_t(end - text.data());
        path.steps_.emplace_back(index);
      }
      if (at == text.size() || text[at] != ']') return wrong(text, at, "expected ']'");
      ++at;
    } else {
      if (!first) {
        if (text[at] != '.') return wrong(text, at, "expected '.' or '['");
        ++at;
      }
      size_t start = at;
      while (at < text.size() && is_plain(text[at])) ++at;
      if (at == start) return wrong(text, at, "expected a key");
      path.steps_.emplace_back(std::string(text.substr(start, at - start)));
    }
    first = false;
  }
  return path;
}

std::string FieldPath::text() const {
  std::string out;
  for (const Step& step : steps_) {
    if (const size_t* index = std::get_if<size_t>(&step)) {
      out += fmt::format("[{}]", *index);
      continue;
    }
    const std::string& key = std::get<std::string>(step);
    if (!key.empty() && std::ranges::all_of(key, is_plain) && key != "$") {
      if (!out.empty()) out += '.';
      out += key;
      continue;
    }
    out += "[\"";
    for (char c : key) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += "\"]";
  }
  return out;
}

FieldPath FieldPath::child(Step step) const {
  FieldPath path = *this;
  path.steps_.push_back(std::move(step));
  return path;
}

const Json* FieldPath::find(const Json& value) const {
  const Json* at = &value;
  for (const Step& step : steps_) {
    if (const size_t* index = std::get_if<size_t>(&step)) {
      at = *index < at->items().size() ? &at->items()[*index] : nullptr;
    } else {
      at = at->members().find(std::get<std::string>(step));
    }
    if (!at) return nullptr;
  }
  return at;
}

const Json& FieldPath::get(const Json& value) const {
  static const Json null;
  const Json* found = find(value);
  return found ? *found : null;
}

}  // namespace fairlead::object
