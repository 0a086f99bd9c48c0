#include "diff/definition_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace fairlead::diff {
namespace {

constexpr std::string_view kOpen = "x-kubernetes-preserve-unknown-fields";

const Json* find_version(const Json& definition, std::string_view name) {
  for (const Json& version : definition["spec"]["versions"].items())
    if (version["name"].string_or("") == name) return &version;
  return nullptr;
}

std::optional<double> number_of(const Json& value) {
  if (const double* number = value.if_double()) return *number;
  if (const uint64_t* number = value.if_uint64()) return double(*number);
  if (const int64_t* number = value.if_int64()) return double(*number);
  return std::nullopt;
}

bool has(const Json& list, const Json& value) { return std::ranges::find(list.items(), value) != list.items().end(); }

// Compares two schemas of one version, from the root down.
class SchemaChanges {
 public:
  SchemaChanges(std::string version, std::vector<std::string>& found) : version_(std::move(version)), found_(found) {}

  void compare(const std::string& path, const Json& live, const Json& wanted) {
    compare_types(path, live, wanted);
    compare_values(path, live, wanted);
    compare_bounds(path, live, wanted);
    compare_fields(path, live, wanted);
    if (live["items"].is_object() && wanted["items"].is_object()) compare(path + "[]", live["items"], wanted["items"]);
    if (live["additionalProperties"].is_object() && wanted["additionalProperties"].is_object())
      compare(path + ".*", live["additionalProperties"], wanted["additionalProperties"]);
  }

 private:
  template <class... Args>
  void add(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    std::string field = path.empty() ? "the object" : path.substr(1);
    found_.push_back(fmt::format("{}: {} {}", version_, field, fmt::format(text, std::forward<Args>(args)...)));
  }

  static std::string type_of(const Json& schema) {
    if (schema["x-kubernetes-int-or-string"].bool_or(false)) return "integer or string";
    return std::string(schema["type"].string_or("any type"));
  }

  void compare_types(const std::string& path, const Json& live, const Json& wanted) {
    std::string from = type_of(live), to = type_of(wanted);
    bool is_wider = to == "any type" || (from == "integer" && (to == "number" || to == "integer or string")) ||
                    (from == "string" && to == "integer or string");
    if (from != to && !is_wider) add(path, "changes its type from {} to {}", from, to);
    if (live["nullable"].bool_or(false) && !wanted["nullable"].bool_or(false)) add(path, "can no longer be null");
  }

  void compare_values(const std::string& path, const Json& live, const Json& wanted) {
    const Json& allowed = wanted["enum"];
    if (allowed.is_array() && !live["enum"].is_array()) add(path, "now accepts only {}", allowed.dump());
    if (allowed.is_array())
      for (const Json& value : live["enum"].items())
        if (!has(allowed, value)) add(path, "no longer accepts {}", value.dump());
    for (std::string_view name : {"pattern", "format"})
      if (wanted[name].is_string() && wanted[name] != live[name])
        add(path, "must now match the {} {}", name, wanted[name].dump());
    for (const Json& rule : wanted["x-kubernetes-validations"].items()) {
      auto is_same = [&](const Json& other) { return other["rule"] == rule["rule"]; };
      if (std::ranges::none_of(live["x-kubernetes-validations"].items(), is_same))
        add(path, "has a new rule: {}", rule["rule"].string_or(""));
    }
  }

  void compare_bounds(const std::string& path, const Json& live, const Json& wanted) {
    for (std::string_view name : {"maximum", "maxLength", "maxItems", "maxProperties"}) {
      std::optional<double> from = number_of(live[name]), to = number_of(wanted[name]);
      if (to && (!from || *to < *from)) tell_bound(path, name, live[name], wanted[name]);
    }
    for (std::string_view name : {"minimum", "minLength", "minItems", "minProperties"}) {
      std::optional<double> from = number_of(live[name]), to = number_of(wanted[name]);
      if (to && (!from || *to > *from)) tell_bound(path, name, live[name], wanted[name]);
    }
    for (std::string_view name : {"exclusiveMaximum", "exclusiveMinimum", "uniqueItems"})
      if (wanted[name].bool_or(false) && !live[name].bool_or(false)) add(path, "gets {}", name);
  }

  void tell_bound(const std::string& path, std::string_view name, const Json& live, const Json& wanted) {
    if (live.is_null()) add(path, "gets {} {}", name, wanted.dump());
    else add(path, "changes {} from {} to {}", name, live.dump(), wanted.dump());
  }

  void compare_fields(const std::string& path, const Json& live, const Json& wanted) {
    for (const Json& name : wanted["required"].items()) {
      std::string field = path + "." + std::string(name.string_or(""));
      if (!has(live["required"], name) && !wanted["properties"][name.string_or("")].contains("default"))
        add(field, "is now required");
    }
    bool takes_all = wanted[kOpen].bool_or(false) || wanted["additionalProperties"].is_object() ||
                     wanted["additionalProperties"].bool_or(false);
    if (live[kOpen].bool_or(false) && !takes_all) add(path, "loses its unknown fields");
    if (live["additionalProperties"].is_object() && !takes_all && type_of(wanted) == "object")
      add(path, "no longer accepts fields of any name");
    for (const auto& [name, schema] : live["properties"].members()) {
      const Json* other = wanted["properties"].members().find(name);
      if (other) compare(path + "." + name, schema, *other);
      else if (!takes_all) add(path + "." + name, "is removed");
    }
  }

  std::string version_;
  std::vector<std::string>& found_;
};

void compare_versions(const Json& live, const Json& wanted, std::vector<std::string>& found) {
  for (const Json& name : live["status"]["storedVersions"].items())
    if (!find_version(wanted, name.string_or("")))
      found.push_back(fmt::format("{}: objects may be stored in this version, and it is removed", name.string_or("")));
  for (const Json& version : live["spec"]["versions"].items()) {
    std::string name(version["name"].string_or(""));
    const Json* after = find_version(wanted, name);
    bool was_served = version["served"].bool_or(false);
    if (was_served && (!after || !(*after)["served"].bool_or(false)))
      found.push_back(fmt::format("{}: this version is no longer served", name));
    if (after)
      SchemaChanges(name, found)
          .compare("", version["schema"]["openAPIV3Schema"], (*after)["schema"]["openAPIV3Schema"]);
  }
}

}  // namespace

std::vector<std::string> unsafe_changes(const Json& live, const Json& wanted) {
  std::vector<std::string> found;
  std::string_view from = live["spec"]["scope"].string_or(""), to = wanted["spec"]["scope"].string_or("");
  if (from != to) found.push_back(fmt::format("its scope changes from {} to {}", from, to));
  compare_versions(live, wanted, found);
  return found;
}

}  // namespace fairlead::diff
