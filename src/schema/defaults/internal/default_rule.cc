#include "schema/defaults/internal/default_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "schema/defaults/internal/default_rules.h"
#include "schema/defaults/stored.h"

namespace fairlead::schema {
namespace {

[[noreturn]] void nonsense(std::string_view line) {
  fmt::print(stderr, "a default rule makes no sense: {}\n", line);
  std::abort();
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Splits at a word, if it is there; the second part is what stands behind it.
bool split(std::string_view text, std::string_view word, std::string_view& before, std::string_view& behind) {
  size_t place = text.find(word);
  if (place == std::string_view::npos) return false;
  before = trimmed(text.substr(0, place));
  behind = trimmed(text.substr(place + word.size()));
  return true;
}

Json constant(std::string_view text) {
  Result<Json> json = Json::parse(text);
  if (!json) nonsense(text);
  return *std::move(json);
}

// An image that names no tag and no digest means the latest, like one that says so.
bool is_latest(std::string_view image) {
  if (image.empty() || image.find('@') != std::string_view::npos) return false;
  std::string_view last = image.substr(image.rfind('/') + 1);
  size_t colon = last.rfind(':');
  return colon == std::string_view::npos || last.substr(colon + 1) == "latest";
}

// Whether a rule has something to do. A number or a boolean that is zero has been set: where zero means unset, the
// stored form has left it out. Strings and targetPort are written even when they are not set.
bool is_unset(const Json* value, std::string_view name) {
  if (!value || value->is_null()) return true;
  if (value->is_string() || value->is_object() || value->is_array()) return is_zero(*value) && !value->is_object();
  return name == "targetPort" && is_zero(*value);
}

}  // namespace

DefaultRule::Path DefaultRule::parse_path(std::string_view text) {
  Path path;
  while (!text.empty()) {
    if (text.starts_with("[\"")) {
      size_t end = text.find("\"]");
      if (end == std::string_view::npos) nonsense(text);
      path.push_back({std::string(text.substr(2, end - 2))});
      text.remove_prefix(end + 2);
    } else if (text.starts_with("[]")) {
      if (path.empty()) nonsense(text);
      path.back().every_item = true;
      text.remove_prefix(2);
    } else {
      if (text.starts_with('.')) text.remove_prefix(1);
      size_t end = std::min(text.find_first_of(".["), text.size());
      if (end == 0) nonsense(text);
      path.push_back({std::string(text.substr(0, end))});
      text.remove_prefix(end);
    }
  }
  if (path.empty()) nonsense("an empty path");
  return path;
}

DefaultRule::Value DefaultRule::parse_value(std::string_view text) {
  Value value;
  if (text.starts_with("lower ")) {
    value.lower = true;
    text = trimmed(text.substr(6));
  }
  if (!text.starts_with('$')) {
    value.constant = constant(text);
    return value;
  }
  text.remove_prefix(1);
  std::string_view path = text, suffix;
  if (split(text, " + ", path, suffix)) value.suffix = constant(suffix).string_or("");
  value.from_top = path.starts_with('/');
  value.from = parse_path(value.from_top ? path.substr(1) : path);
  return value;
}

DefaultRule::Condition DefaultRule::parse_condition(std::string_view text) {
  std::string_view path, value;
  if (text.starts_with("only ")) return {parse_path(text.substr(5)), Test::only, Json()};
  if (!split(text, " is ", path, value)) nonsense(text);
  if (value == "set") return {parse_path(path), Test::set, Json()};
  if (value == "unset") return {parse_path(path), Test::unset, Json()};
  if (value == "latest") return {parse_path(path), Test::latest, Json()};
  if (value.starts_with("not ")) return {parse_path(path), Test::is_not, constant(value.substr(4))};
  return {parse_path(path), Test::is, constant(value)};
}

DefaultRule DefaultRule::parse(std::string_view line) {
  DefaultRule rule;
  std::string_view action = trimmed(line), conditions, target, value;
  if (split(action, " when ", action, conditions)) {
    for (std::string_view one, rest; split(conditions, " and ", one, rest); conditions = rest)
      rule.conditions_.push_back(parse_condition(one));
    rule.conditions_.push_back(parse_condition(conditions));
  }
  if (split(action, " fills from ", target, value)) {
    rule.verb_ = Verb::fill;
    // Beside each other: the same way down but for the last step.
    rule.value_.from = {parse_path(value).back()};
  } else if (action.ends_with(" drops")) {
    rule.verb_ = Verb::drop;
    target = trimmed(action.substr(0, action.size() - 6));
  } else if (split(action, " := ", target, value)) {
    rule.verb_ = Verb::set;
    rule.value_ = parse_value(value);
  } else if (split(action, " = ", target, value)) {
    rule.value_ = parse_value(value);
  } else {
    nonsense(line);
  }
  rule.path_ = parse_path(target);
  return rule;
}

bool DefaultRule::holds(const Json& object) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
    if (condition.test == Test::only)
      return std::all_of(object.members().begin(), object.members().end(),
                         [&](const Json::Member& member) { return member.key == condition.path[0].name; });
    const Json* value = &object;
    for (const Step& step : condition.path) value = value ? value->members().find(step.name) : nullptr;
    switch (condition.test) {
      case Test::is: return value && value->same_as(condition.value);
      case Test::is_not: return !value || !value->same_as(condition.value);
      case Test::set: return !is_unset(value, condition.path.back().name);
      case Test::unset: return is_unset(value, condition.path.back().name);
      default: return value && is_latest(value->string_or(""));
    }
  });
}

void DefaultRule::follow(Json& object) const {
  if (!holds(object)) return;
  // The way down changes the object; what is read from the top of it is read before.
  if (value_.from_top) follow(object, path_, Json(object));
  else follow(object, path_, object);
}

void DefaultRule::follow(Json& at, std::span<const Step> path, const Json& top) const {
  if (!at.is_object()) return;
  const Step& step = path[0];
  if (path.size() == 1) return do_it(at, step.name, top);
  Json* below = at.if_object()->find(step.name);
  if (!below) return;
  if (!step.every_item) return follow(*below, path.subspan(1), top);
  if (Json::Array* items = below->if_array())
    for (Json& item : *items) follow(item, path.subspan(1), top);
}

void DefaultRule::do_it(Json& parent, const std::string& name, const Json& top) const {
  Json::Object& object = *parent.if_object();
  if (verb_ == Verb::drop) {
    object.erase(name);
    return;
  }
  if (verb_ == Verb::set_if_unset && !is_unset(object.find(name), name)) return;

  Json value;
  if (value_.constant) {
    value = *value_.constant;
  } else {
    const Json* from = value_.from_top ? &top : &parent;
    for (const Step& step : value_.from) from = from ? from->members().find(step.name) : nullptr;
    if (!from || is_zero(*from)) return;
    value = *from;
  }
  if (verb_ == Verb::fill) {
    for (Json::Member& member : *value.if_object())
      if (!object[name].contains(member.key)) object[name].make(member.key) = std::move(member.value);
    return;
  }
  if (std::string* text = value.if_string()) {
    if (value_.lower)
      std::transform(text->begin(), text->end(), text->begin(), [](unsigned char c) { return char(std::tolower(c)); });
    *text += value_.suffix;
  }
  object[name] = std::move(value);
}

DefaultRules::DefaultRules(std::string_view text) {
  std::string current;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with(' ')) by_type_[current].push_back(DefaultRule::parse(line));
    else current = line;
  }
}

const DefaultRules& DefaultRules::builtin() {
  static const DefaultRules kRules(kDefaultRules);
  return kRules;
}

std::span<const DefaultRule> DefaultRules::of(std::string_view type) const {
  auto place = by_type_.find(type);
  return place == by_type_.end() ? std::span<const DefaultRule>() : std::span<const DefaultRule>(place->second);
}

}  // namespace fairlead::schema
