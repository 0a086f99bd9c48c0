#include "schema/validation/schema_rules.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

namespace fairlead::schema {
namespace {

using Causes = std::vector<Cause>;

enum class Level { root, item, field };

bool flag(const Json& schema, std::string_view name) { return schema[name].bool_or(false); }

std::string_view type_of(const Json& schema) { return schema["type"].string_or(""); }

Cause required(std::string field, std::string_view why) {
  return {"FieldValueRequired", std::move(field), fmt::format("Required value: {}", why)};
}
Cause forbidden(std::string field, std::string_view why) {
  return {"FieldValueForbidden", std::move(field), fmt::format("Forbidden: {}", why)};
}
Cause invalid_value(std::string field, const Json& value, std::string_view why) {
  return {"FieldValueInvalid", std::move(field), fmt::format("Invalid value: {}: {}", value.dump(), why)};
}
Cause unsupported(std::string field, const Json& value, std::string_view supported) {
  return {"FieldValueNotSupported", std::move(field),
          fmt::format("Unsupported value: {}: supported values: {}", value.dump(), supported)};
}

std::string property(const std::string& path, std::string_view name) {
  return fmt::format("{}.properties[{}]", path, name);
}

// A missing type and a wrong one are told differently.
void want_type(const Json& schema, const std::string& path, std::string_view wanted, std::string_view why,
               Causes& out) {
  if (type_of(schema) == wanted) return;
  if (type_of(schema).empty()) out.push_back(required(path + ".type", why));
  else out.push_back(invalid_value(path + ".type", schema["type"], why));
}

// --- structure

void check_values(const Json& schema, bool integer_or_string, const std::string& path, Causes& out);

// Below allOf, anyOf, oneOf and not: only values may be restricted, not the structure.
void check_nested(const Json& schema, bool integer_or_string, const std::string& path, Causes& out) {
  check_values(schema, integer_or_string, path, out);
  if (schema["items"].is_object()) check_nested(schema["items"], false, path + ".items", out);
  for (const Json::Member& member : schema["properties"].members())
    check_nested(member.value, false, property(path, member.key), out);
  for (std::string_view text : {"type", "title", "description"})
    if (!schema[text].string_or("").empty())
      out.push_back(forbidden(fmt::format("{}.{}", path, text), "must be empty to be structural"));
  if (schema["additionalProperties"].is_object() || flag(schema, "additionalProperties"))
    out.push_back(forbidden(path + ".additionalProperties", "must be undefined to be structural"));
  for (std::string_view any : {"default", "x-kubernetes-list-type", "x-kubernetes-map-type"})
    if (!schema[any].is_null())
      out.push_back(forbidden(fmt::format("{}.{}", path, any), "must be undefined to be structural"));
  for (std::string_view on : {"nullable", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
                              "x-kubernetes-int-or-string"})
    if (flag(schema, on)) out.push_back(forbidden(fmt::format("{}.{}", path, on), "must be false to be structural"));
  for (std::string_view list : {"x-kubernetes-list-map-keys", "x-kubernetes-validations"})
    if (!schema[list].items().empty())
      out.push_back(forbidden(fmt::format("{}.{}", path, list), "must be empty to be structural"));
  if (schema["properties"].contains("metadata"))
    out.push_back(forbidden(property(path, "metadata"), "must not be specified in a nested context"));
}

bool is_integer_or_string(const Json& any_of) {
  return any_of.same_as(Json::Array{Json::Object{{"type", "integer"}}, Json::Object{{"type", "string"}}});
}

// The one pattern that may name types: anyOf integer and string, itself or as the first of allOf.
void check_values(const Json& schema, bool integer_or_string, const std::string& path, Causes& out) {
  bool plain = integer_or_string && is_integer_or_string(schema["anyOf"]);
  for (std::string_view choice : {"anyOf", "allOf", "oneOf"}) {
    if (choice == "anyOf" && plain) continue;
    const Json::Array& list = schema[choice].items();
    for (size_t i = 0; i < list.size(); ++i) {
      bool first = integer_or_string && choice == "allOf" && i == 0 && is_integer_or_string(list[i]["anyOf"]);
      check_nested(list[i], first, fmt::format("{}.{}[{}]", path, choice, i), out);
    }
  }
  if (schema["not"].is_object()) check_nested(schema["not"], false, path + ".not", out);
  std::string_view pattern = schema["pattern"].string_or("");
  if (pattern.empty()) return;
  RE2::Options options;
  options.set_log_errors(false);
  RE2 expression(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!expression.ok())
    out.push_back(invalid_value(
        path + ".pattern", schema["pattern"],
        fmt::format("must be a valid regular expression, but isn't: error parsing regexp: {}", expression.error())));
}

void check_root_metadata(const Json& metadata, const std::string& path, Causes& out) {
  for (const Json::Member& member : metadata.members()) {
    if (member.key == "type" || member.key == "default") continue;
    bool names = member.key == "properties";
    for (const Json::Member& one : member.value.members()) names &= one.key == "name" || one.key == "generateName";
    if (names) continue;
    out.push_back(forbidden(
        path, "must not specify anything other than name and generateName, but metadata is implicitly specified"));
    return;
  }
}

void check_structure(const Json& schema, Level level, const std::string& path, Causes& out) {
  const Json& extra = schema["additionalProperties"];
  bool preserves = flag(schema, "x-kubernetes-preserve-unknown-fields");
  bool embedded = flag(schema, "x-kubernetes-embedded-resource");
  bool either = flag(schema, "x-kubernetes-int-or-string");
  if (type_of(schema) == "array" && schema["items"].is_null())
    out.push_back(required(path + ".items", "must be specified"));
  if (schema["items"].is_object()) check_structure(schema["items"], Level::item, path + ".items", out);
  for (const Json::Member& member : schema["properties"].members())
    check_structure(member.value, Level::field, property(path, member.key), out);
  if (!extra.is_null() && level == Level::root)
    out.push_back(forbidden(path + ".additionalProperties", "must not be used at the root"));
  if (extra.is_object()) check_structure(extra, Level::field, path + ".additionalProperties", out);
  constexpr std::string_view kNotEither = "must be false if x-kubernetes-int-or-string is true";
  if (either && preserves)
    out.push_back(invalid_value(path + ".x-kubernetes-preserve-unknown-fields", true, kNotEither));
  if (either && embedded) out.push_back(invalid_value(path + ".x-kubernetes-embedded-resource", true, kNotEither));
  check_values(schema, true, path, out);

  if (embedded) {
    want_type(schema, path, "object", "must be object if x-kubernetes-embedded-resource is true", out);
  } else if (type_of(schema).empty() && !either && !preserves) {
    std::string_view where = level == Level::root   ? "at the root"
                             : level == Level::item ? "for specified array items"
                                                    : "for specified object fields";
    out.push_back(required(path + ".type", fmt::format("must not be empty {}", where)));
  }
  if (embedded && !extra.is_null())
    out.push_back(
        forbidden(path + ".additionalProperties", "must not be used if x-kubernetes-embedded-resource is set"));
  if (level == Level::root && !type_of(schema).empty() && type_of(schema) != "object")
    out.push_back(invalid_value(path + ".type", schema["type"], "must be object at the root"));

  const Json& properties = schema["properties"];
  bool resource = level == Level::root || embedded;
  for (std::string_view name : {"kind", "apiVersion"})
    if (resource && properties.contains(name) && type_of(properties[name]) != "string")
      out.push_back(invalid_value(property(path, name) + ".type", Json(type_of(properties[name])), "must be string"));
  if (properties.contains("metadata")) {
    const Json& metadata = properties["metadata"];
    if (resource && type_of(metadata) != "object")
      out.push_back(invalid_value(property(path, "metadata") + ".type", Json(type_of(metadata)), "must be object"));
    if (level == Level::root) check_root_metadata(metadata, property(path, "metadata"), out);
  }
  if (embedded && !preserves && properties.members().empty())
    out.push_back(required(path + ".properties",
                           "must not be empty if x-kubernetes-embedded-resource is true without "
                           "x-kubernetes-preserve-unknown-fields"));
}

// --- completeness: what a value validation names has to be there structurally

void check_complete(const Json& nested, const Json& structure, const std::string& at, const std::string& from,
                    Causes& out) {
  if (!structure.is_object()) {
    out.push_back(required(at, fmt::format("because it is defined in {}", from)));
    return;
  }
  for (std::string_view choice : {"allOf", "anyOf", "oneOf"})
    for (size_t i = 0; i < nested[choice].items().size(); ++i)
      check_complete(nested[choice].items()[i], structure, at, fmt::format("{}.{}[{}]", from, choice, i), out);
  if (nested["not"].is_object()) check_complete(nested["not"], structure, at, from + ".not", out);
  if (&nested == &structure) return;
  if (nested["items"].is_object())
    check_complete(nested["items"], structure["items"], at + ".items", from + ".items", out);
  for (const Json::Member& member : nested["properties"].members())
    check_complete(member.value, structure["properties"][member.key], property(at, member.key),
                   property(from, member.key), out);
}

// --- what is not taken anywhere

void check_lists_and_maps(const Json& schema, const std::string& path, Causes& out) {
  const Json &map_type = schema["x-kubernetes-map-type"], &list_type = schema["x-kubernetes-list-type"];
  const Json &keys = schema["x-kubernetes-list-map-keys"], &items = schema["items"];
  if (!map_type.is_null()) {
    want_type(schema, path, "object", "must be object if x-kubernetes-map-type is specified", out);
    if (map_type != Json("atomic") && map_type != Json("granular"))
      out.push_back(unsupported(path + ".x-kubernetes-map-type", map_type, R"("atomic", "granular")"));
  }
  std::string_view kind = list_type.string_or("");
  if (!list_type.is_null()) {
    want_type(schema, path, "array", "must be array if x-kubernetes-list-type is specified", out);
    if (kind != "atomic" && kind != "set" && kind != "map")
      out.push_back(unsupported(path + ".x-kubernetes-list-type", list_type, R"("atomic", "map", "set")"));
  }
  if (!keys.items().empty() && kind != "map") {
    constexpr std::string_view kWhy = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (list_type.is_null()) out.push_back(required(path + ".x-kubernetes-list-type", kWhy));
    else out.push_back(invalid_value(path + ".x-kubernetes-list-type", list_type, kWhy));
  }
  if (kind != "map") return;
  std::string at = path + ".x-kubernetes-list-map-keys";
  if (keys.items().empty()) out.push_back(required(at, "must not be empty if x-kubernetes-list-type is map"));
  if (items.is_null()) out.push_back(required(path + ".items", "must have a schema if x-kubernetes-list-type is map"));
  if (!items.is_object()) return;
  if (type_of(items) != "object") {
    out.push_back(invalid_value(path + ".items.type", Json(type_of(items)),
                                "must be object if parent array's x-kubernetes-list-type is map"));
    return;
  }
  for (size_t i = 0; i < keys.items().size(); ++i) {
    std::string_view key = keys.items()[i].string_or("");
    const Json& field = items["properties"][key];
    if (field.is_null()) out.push_back(invalid_value(at, keys, "entries must all be names of item properties"));
    else if (type_of(field) == "array" || type_of(field) == "object")
      out.push_back(invalid_value(property(path + ".items", key) + ".type", items["type"],
                                  "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    auto end = keys.items().begin() + std::ptrdiff_t(i);
    if (std::find(keys.items().begin(), end, keys.items()[i]) != end)
      out.push_back(invalid_value(at, keys, "must not contain duplicate entries"));
  }
}

void check_taken(const Json& schema, const std::string& path, Causes& out) {
  static constexpr std::array<std::string_view, 6> kTypes = {"array",  "boolean", "integer",
                                                             "number", "object",  "string"};
  std::string_view type = type_of(schema);
  if (!type.empty() && std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
    out.push_back(
        unsupported(path + ".type", schema["type"], R"("array", "boolean", "integer", "number", "object", "string")"));
  if (type == "null")
    out.push_back(forbidden(path + ".type", "type cannot be set to null, use nullable as an alternative"));
  for (std::string_view none : {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"})
    if (!schema[none].is_null())
      out.push_back(forbidden(fmt::format("{}.{}", path, none), fmt::format("{} is not supported", none)));
  if (schema["items"].is_array())
    out.push_back(forbidden(path + ".items", "items must be a schema object and not an array"));
  if (flag(schema, "uniqueItems"))
    out.push_back(forbidden(path + ".uniqueItems",
                            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
  const Json& extra = schema["additionalProperties"];
  if (!extra.is_null() && !schema["properties"].members().empty() && extra != Json(true))
    out.push_back(
        forbidden(path + ".additionalProperties", "additionalProperties and properties are mutual exclusive"));
  if (extra.is_object()) check_taken(extra, path + ".additionalProperties", out);
  for (const Json::Member& member : schema["properties"].members())
    check_taken(member.value, property(path, member.key), out);
  if (schema["not"].is_object()) check_taken(schema["not"], path + ".not", out);
  for (std::string_view choice : {"allOf", "oneOf", "anyOf"})
    for (size_t i = 0; i < schema[choice].items().size(); ++i)
      check_taken(schema[choice].items()[i], fmt::format("{}.{}[{}]", path, choice, i), out);
  if (schema["items"].is_object()) check_taken(schema["items"], path + ".items", out);
  if (const bool* preserve = schema["x-kubernetes-preserve-unknown-fields"].if_bool(); preserve && !*preserve)
    out.push_back(invalid_value(path + ".x-kubernetes-preserve-unknown-fields", false, "must be true or undefined"));
  check_lists_and_maps(schema, path, out);
}

}  // namespace

std::vector<Cause> flaws_of_schema(const Json& schema, const std::string& path) {
  Causes out;
  if (flag(schema, "nullable")) out.push_back(forbidden(path + ".nullable", "nullable cannot be true at the root"));
  Causes structure;
  check_structure(schema, Level::root, path, structure);
  check_complete(schema, schema, path, path, structure);
  std::sort(structure.begin(), structure.end(),
            [](const Cause& a, const Cause& b) { return std::tie(a.field, a.message) < std::tie(b.field, b.message); });
  out.insert(out.end(), structure.begin(), structure.end());
  check_taken(schema, path, out);
  return out;
}

}  // namespace fairlead::schema
