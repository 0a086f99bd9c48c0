#include "webhook/install/internal/labels.h"

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "object/name.h"

namespace fairlead::webhook::install {
namespace {

std::string below(std::string_view path, std::string_view key) {
  return fmt::format("{}.{}", path, printable_line(key.substr(0, 100)));
}

void add_if_wrong(Flaws& flaws, std::string_view path, const Result<void>& checked) {
  if (!checked) flaws.push_back(fmt::format("{}: {}", path, checked.error().message()));
}

bool is_text(Flaws& flaws, std::string_view path, const Json& value) {
  if (!value.is_string()) flaws.push_back(fmt::format("{} must be a string, not {}", path, value.type_name()));
  return value.is_string();
}

Flaws members_flaws(std::string_view path, const Json& members, bool are_labels) {
  Flaws flaws;
  for (const Json::Member& member : members.members()) {
    add_if_wrong(flaws, path, object::check_label_key(member.key));
    std::string key = below(path, member.key);
    if (is_text(flaws, key, member.value) && are_labels)
      add_if_wrong(flaws, key, object::check_label_value(member.value.string_or("")));
  }
  return flaws;
}

void add_values_flaws(Flaws& flaws, std::string_view path, std::string_view op, const Json& values) {
  bool takes_values = op == "In" || op == "NotIn";
  if (!values.is_null() && !values.is_array())
    flaws.push_back(fmt::format("{}.values must be a list, not {}", path, values.type_name()));
  else if (takes_values && values.items().empty())
    flaws.push_back(fmt::format("{}.values must have a value, for the operator {}", path, op));
  else if (!takes_values && !values.items().empty())
    flaws.push_back(fmt::format("{}.values must have no value, for the operator {}", path, op));
  for (const Json& value : values.items()) {
    std::string at = fmt::format("{}.values", path);
    if (is_text(flaws, at, value)) add_if_wrong(flaws, at, object::check_label_value(value.string_or("")));
  }
}

void add_expression_flaws(Flaws& flaws, std::string_view path, const Json& expression) {
  if (!expression.is_object())
    return flaws.push_back(fmt::format("{} must be a mapping, not {}", path, expression.type_name()));
  for (const Json::Member& member : expression.members())
    if (member.key != "key" && member.key != "operator" && member.key != "values")
      flaws.push_back(fmt::format("unknown key {}: the keys here are key, operator, values", below(path, member.key)));
  if (is_text(flaws, fmt::format("{}.key", path), expression["key"]))
    add_if_wrong(flaws, path, object::check_label_key(expression["key"].string_or("")));
  std::string_view op = expression["operator"].string_or("");
  if (op != "In" && op != "NotIn" && op != "Exists" && op != "DoesNotExist")
    return flaws.push_back(fmt::format("{}.operator must be In, NotIn, Exists or DoesNotExist, not \"{}\"", path,
                                       printable_line(op.substr(0, 100))));
  add_values_flaws(flaws, path, op, expression["values"]);
}

}  // namespace

Flaws label_flaws(std::string_view path, const Json& labels) { return members_flaws(path, labels, true); }

Flaws annotation_flaws(std::string_view path, const Json& annotations) {
  return members_flaws(path, annotations, false);
}

Flaws selector_flaws(std::string_view path, const Json& selector) {
  Flaws flaws;
  for (const Json::Member& member : selector.members()) {
    std::string key = below(path, member.key);
    auto must_be = [&](std::string_view what) {
      flaws.push_back(fmt::format("{} must be {}, not {}", key, what, member.value.type_name()));
    };
    if (member.key == "matchLabels") {
      if (member.value.is_object()) std::ranges::move(label_flaws(key, member.value), std::back_inserter(flaws));
      else must_be("a mapping");
    } else if (member.key == "matchExpressions") {
      if (!member.value.is_array()) must_be("a list");
      for (size_t i = 0; i < member.value.items().size(); ++i)
        add_expression_flaws(flaws, fmt::format("{}[{}]", key, i), member.value.item(i));
    } else {
      flaws.push_back(fmt::format("unknown key {}: the keys here are matchLabels, matchExpressions", key));
    }
  }
  return flaws;
}

}  // namespace fairlead::webhook::install
