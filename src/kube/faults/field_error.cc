#include "kube/faults/field_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/plain_text.h"

namespace fairlead::kube {
namespace {

constexpr size_t kMaxValue = 80;
constexpr std::string_view kDiff = "\n@@ ";

// How long the JSON value is that the text starts with; 0 if it starts with none.
size_t json_length(std::string_view text) {
  for (std::string_view word : {"null", "true", "false"})
    if (text.starts_with(word)) return word.size();
  if (size_t number = text.find_first_not_of("-+.eE0123456789"); number != std::string_view::npos && number > 0)
    return number;
  size_t depth = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (quoted && c == '\\') ++at;
    else if (c == '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c == '{' || c == '[') ++depth;
    else if ((c == '}' || c == ']') && depth > 0) --depth;
    else if (at == 0) return 0;
    if (depth == 0 && !quoted) return at + 1;
  }
  return 0;
}

// Rules of custom resources say it in the words of their authors.
bool says_immutable(std::string_view detail) {
  constexpr std::array<std::string_view, 12> kWords{"immutable",           "may not change",    "may not be changed",
                                                    "must not be changed", "cannot be changed", "can not be changed",
                                                    "can't be changed",    "cannot change",     "cannot be modified",
                                                    "may not be modified", "cannot be updated", "may not be updated"};
  std::string lower(detail);
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  // A rule without a message is quoted itself. One about the form before can only be met by a new object.
  bool is_transition = detail.starts_with("failed rule: ") && detail.contains("oldSelf");
  return is_transition || lower.starts_with("updates to ") ||
         std::ranges::any_of(kWords, [&](std::string_view word) { return lower.contains(word); });
}

}  // namespace

FieldError read_field_error(std::string_view message) {
  for (std::string_view start : {"Forbidden: ", "Invalid value: "}) {
    if (!message.starts_with(start)) continue;
    message.remove_prefix(start.size());
    if (start == "Forbidden: ") break;
    size_t length = json_length(message);
    // Older servers write Go values.
    if (length == 0 || !message.substr(length).starts_with(": ")) length = message.rfind(": ");
    if (length == std::string_view::npos) break;
    return {.value = message.substr(0, length), .detail = message.substr(length + 2)};
  }
  return {.value = {}, .detail = message.substr(0, message.find(kDiff))};
}

bool is_about_immutability(std::string_view reason, std::string_view message) {
  bool may_be = reason == "FieldValueInvalid" || reason == "FieldValueForbidden";
  return may_be && says_immutable(read_field_error(message).detail);
}

std::string shorten_field_error(std::string_view message) {
  message = message.substr(0, message.find(kDiff));
  FieldError error = read_field_error(message);
  if (error.value.size() <= kMaxValue) return std::string(message);
  return fmt::format("Invalid value: {}: {}", plain_text(error.value, kMaxValue), error.detail);
}

}  // namespace fairlead::kube
