#include "readiness/ready_when.h"

#include <fmt/format.h>

#include <algorithm>

#include "readiness/internal/verdict_rules.h"

namespace fairlead::readiness {
namespace {

constexpr std::string_view kForms =
    "write condition=NAME, condition=NAME=VALUE, jsonpath={.path}, jsonpath={.path}=VALUE or create";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text, std::string_view what) {
  size_t start = text.find_first_not_of(what);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(what) - start + 1);
}

// Returns the end of the path: after the closing brace, or at the first single '=' if there are no braces. Returns npos
// if the brace is not closed.
size_t end_of_path(std::string_view text) {
  if (!text.starts_with('{')) {
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '=') continue;
      if (!text.substr(at).starts_with("==")) return at;
      ++at;
    }
    return text.size();
  }
  char quote = '\0';
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '\\') ++at;
    else if (quote != '\0') quote = c == quote ? '\0' : quote;
    else if (c == '\'' || c == '"') quote = c;
    else if (c == '}') return at + 1;
  }
  return std::string_view::npos;
}

// Returns the text as Go prints it, because kubectl compares that text.
std::string printed(const Json& value) {
  if (value.is_null()) return "<nil>";
  const std::string* text = value.if_string();
  return text ? *text : value.dump();
}

}  // namespace

Result<ReadyWhen> ReadyWhen::parse(std::string_view text) {
  std::string_view form = trim(text, " \t\r\n");
  if (same_but_for_case(form, "create")) return ReadyWhen(Create{});
  if (form.starts_with("condition=")) return parse_condition(form.substr(sizeof("condition=") - 1));
  if (form.starts_with("jsonpath=")) return parse_path(form.substr(sizeof("jsonpath=") - 1));
  return fail(Error(ErrorKind::invalid, fmt::format("\"{}\" is not a known form", form.substr(0, 200)))
                  .next(std::string(kForms)));
}

Result<ReadyWhen> ReadyWhen::parse_condition(std::string_view text) {
  size_t equals = text.find('=');
  std::string_view type = text.substr(0, equals);
  std::string_view status = equals == std::string_view::npos ? "True" : text.substr(equals + 1);
  if (type.empty()) return fail(Error(ErrorKind::invalid, "the condition has no name").next(std::string(kForms)));
  if (status.empty())
    return fail(Error(ErrorKind::invalid, fmt::format("there is no value after \"condition={}=\"", type))
                    .next(std::string(kForms)));
  return ReadyWhen(Condition{.type = std::string(type), .status = std::string(status)});
}

Result<ReadyWhen> ReadyWhen::parse_path(std::string_view text) {
  // Removes quotes that a shell would have removed.
  if (text.starts_with("'{") || text.starts_with("\"{")) {
    size_t closing = text.rfind(std::string{'}', text[0]});
    if (closing != std::string_view::npos) {
      std::string unquoted(text.substr(1, closing));
      return parse_path(unquoted.append(text.substr(closing + 2)));
    }
  }
  size_t end = end_of_path(text);
  if (end == std::string_view::npos)
    return fail(Error(ErrorKind::invalid, "the '{' of the path is not closed").next(std::string(kForms)));
  std::string_view shown = text.substr(0, end);
  std::string_view inner = shown.starts_with('{') ? shown.substr(1, shown.size() - 2) : shown;
  Result<JsonPath> path = JsonPath::parse(inner);
  if (!path) return fail(std::move(path).error().in("the path cannot be read").next(std::string(kForms)));
  std::optional<std::string> value;
  if (end < text.size()) {
    if (text[end] != '=')
      return fail(Error(ErrorKind::invalid, fmt::format("expected '=' after the path, not \"{}\"", text.substr(end)))
                      .next(std::string(kForms)));
    value = trim(trim(text.substr(end + 1), "'\""), " \t");
    if (value->empty())
      return fail(Error(ErrorKind::invalid, fmt::format("there is no value after \"jsonpath={}=\"", shown))
                      .next(std::string(kForms)));
  }
  return ReadyWhen(Path{.text = std::string(shown), .path = *std::move(path), .value = std::move(value)});
}

Result<std::optional<ReadyWhen>> ReadyWhen::of(const Json& object) {
  const Json& annotation = object["metadata"]["annotations"][kReadyWhen];
  if (annotation.is_null()) return std::nullopt;
  Result<ReadyWhen> parsed = parse(annotation.string_or(""));
  if (!parsed) return fail(std::move(parsed).error().in(fmt::format("its annotation {} cannot be used", kReadyWhen)));
  return std::optional(*std::move(parsed));
}

Result<ReadyWhen::Answer> ReadyWhen::ask(const Json& object) const {
  if (const Condition* wanted = std::get_if<Condition>(&form_)) return ask_condition(*wanted, object);
  if (const Path* wanted = std::get_if<Path>(&form_)) return ask_path(*wanted, object);
  return Answer{.met = true, .text = "it is stored"};
}

ReadyWhen::Answer ReadyWhen::ask_condition(const Condition& wanted, const Json& object) {
  for (const Json& found : object["status"]["conditions"].items()) {
    if (!same_but_for_case(found["type"].string_or(""), wanted.type) || !found["status"].is_string()) continue;
    if (is_stale(object, found))
      return {.text = fmt::format("its condition {} is from an older generation", wanted.type)};
    return {.met = same_but_for_case(found["status"].string_or(""), wanted.status), .text = condition_text(found)};
  }
  return {.text = fmt::format("it has no condition {} yet", wanted.type)};
}

Result<ReadyWhen::Answer> ReadyWhen::ask_path(const Path& wanted, const Json& object) {
  std::vector<const Json*> found = wanted.path.find(object);
  if (found.empty()) return Answer{.text = fmt::format("{} is not set yet", wanted.text)};
  if (found.size() > 1)
    return fail(ErrorKind::invalid, "{} matches {} values instead of one", wanted.text, found.size());
  const Json& value = *found.front();
  if (!wanted.value) return Answer{.met = true, .text = fmt::format("{} is set", wanted.text)};
  if (value.is_object() || value.is_array())
    return fail(ErrorKind::invalid, "{} is an {}, which cannot be compared", wanted.text, value.type_name());
  std::string now = printed(value);
  bool is_wanted = trim(now, " \t\r\n") == *wanted.value;
  // Values of a Secret are never shown.
  if (object["kind"].string_or("") == "Secret")
    return Answer{.met = is_wanted,
                  .text = fmt::format("{} has {} value", wanted.text, is_wanted ? "the wanted" : "another")};
  if (is_wanted) return Answer{.met = true, .text = fmt::format("{} is {}", wanted.text, now)};
  return Answer{.text = fmt::format("{} is {}, not {} yet", wanted.text, now, *wanted.value)};
}

}  // namespace fairlead::readiness
