#include "terraform/value/state_json.h"

#include <string>

#include "terraform/value/number.h"

namespace fairlead::terraform {
namespace {

// Any integer and any decimal of so many bytes stays what it is in Json.
constexpr size_t kAlwaysExact = 15;

bool is_in_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

bool json_keeps(std::string_view token) {
  std::optional<Number> exact = Number::parse(token);
  if (!exact) return true;
  Result<Json> json = Json::parse(token);
  return !json || Number::parse(json->dump()) == exact;
}

// The end of the string whose first quote is at `begin`, its last quote included.
size_t end_of_string(std::string_view text, size_t begin) {
  size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

}  // namespace

Result<Json> parse_state_json(std::string_view text) {
  std::string changed;
  size_t copied = 0;
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      continue;
    }
    size_t end = at;
    if (c == '-' || (c >= '0' && c <= '9'))
      while (end < text.size() && is_in_number(text[end])) ++end;
    std::string_view token = text.substr(at, end - at);
    if (token.size() > kAlwaysExact && !json_keeps(token)) {
      changed += text.substr(copied, at - copied);
      changed += '"';
      changed += token;
      changed += '"';
      copied = end;
    }
    at = std::max(end, at + 1);
  }
  if (copied == 0) return Json::parse(text);
  changed += text.substr(copied);
  return Json::parse(changed);
}

}  // namespace fairlead::terraform
