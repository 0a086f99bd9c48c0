#include "sandbox/kinds/internal/definition_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "schema/validation/schema_rules.h"

namespace fairlead::sandbox {
namespace {

std::string storage_version(const Json& object) {
  for (const Json& version : object["spec"]["versions"].items())
    if (version["storage"].bool_or(false)) return std::string(version["name"].string_or(""));
  return "";
}

bool is_established(const Json& object) {
  for (const Json& condition : object["status"]["conditions"].items())
    if (condition["type"].string_or("") == "Established") return condition["status"].string_or("") == "True";
  return false;
}

// Schemas that are the same in all versions are one to the server.
void validate_schemas(const Json& versions, std::vector<Cause>& causes) {
  auto check = [&](const Json& schema, const std::string& at) {
    if (schema.is_null()) return;
    for (schema::Cause& cause : schema::flaws_of_schema(schema, at))
      causes.push_back({std::move(cause.reason), std::move(cause.field), std::move(cause.message)});
  };
  const Json& first = versions.item(0)["schema"]["openAPIV3Schema"];
  bool same = std::all_of(versions.items().begin(), versions.items().end(),
                          [&](const Json& version) { return version["schema"]["openAPIV3Schema"].same_as(first); });
  if (same) return check(first, "spec.validation.openAPIV3Schema");
  for (size_t i = 0; i < versions.items().size(); ++i)
    check(versions.items()[i]["schema"]["openAPIV3Schema"], fmt::format("spec.versions[{}].schema.openAPIV3Schema", i));
}

}  // namespace

void create_definition(Core&, Json& object) {
  object.make("status") = Json::Object{{"conditions", nullptr},
                                       {"acceptedNames", Json::Object{{"plural", ""}, {"kind", ""}}},
                                       {"storedVersions", Json::Array{storage_version(object)}}};
}

void update_definition(Core&, const Json&, Json& object) {
  std::string storage = storage_version(object);
  Json& stored = object.make("status").make("storedVersions");
  if (!stored.is_array()) stored = Json::Array{};
  Json::Array& list = *stored.if_array();
  if (std::find(list.begin(), list.end(), Json(storage)) == list.end()) list.emplace_back(storage);
}

void validate_definition(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  const Json& spec = object["spec"];
  std::string wanted = fmt::format("{}.{}", spec["names"]["plural"].string_or(""), spec["group"].string_or(""));
  if (!live && object["metadata"]["name"].string_or("") != wanted)
    causes.push_back(
        invalid_value("metadata.name", object["metadata"]["name"], "must be spec.names.plural+\".\"+spec.group"));
  if (spec["group"].string_or("").empty()) causes.push_back(required("spec.group", ""));
  else if (spec["group"].string_or("").find('.') == std::string_view::npos)
    causes.push_back(invalid_value("spec.group", spec["group"], "should be a domain with at least one dot"));
  std::string_view scope = spec["scope"].string_or("");
  if (scope.empty()) causes.push_back(required("spec.scope", ""));
  else if (scope != "Cluster" && scope != "Namespaced")
    causes.push_back(unsupported_value("spec.scope", spec["scope"], {"Cluster", "Namespaced"}));
  size_t storage = 0, index = 0;
  for (const Json& version : spec["versions"].items()) {
    if (version["storage"].bool_or(false)) ++storage;
    std::string at = fmt::format("spec.versions[{}]", index++);
    if (version["schema"]["openAPIV3Schema"].is_null()) causes.push_back(required(at + ".schema.openAPIV3Schema", ""));
  }
  if (storage != 1)
    causes.push_back(
        invalid_value("spec.versions", spec["versions"], "must have exactly one version marked as storage version"));
  validate_schemas(spec["versions"], causes);
  if (spec["names"]["kind"].string_or("").empty()) causes.push_back(required("spec.names.kind", ""));
  if (!live) return;
  if (is_established(*live)) {
    if (!(*live)["spec"]["scope"].same_as(spec["scope"]))
      causes.push_back(invalid_value("spec.scope", spec["scope"], "field is immutable"));
    if (!(*live)["spec"]["names"]["kind"].same_as(spec["names"]["kind"]))
      causes.push_back(invalid_value("spec.names.kind", spec["names"]["kind"], "field is immutable"));
  }
  for (std::string_view fixed : {"group"})
    if (!(*live)["spec"][fixed].same_as(spec[fixed]))
      causes.push_back(invalid_value(fmt::format("spec.{}", fixed), spec[fixed], "field is immutable"));
  for (const Json& stored : object["status"]["storedVersions"].items()) {
    bool there = false;
    for (const Json& version : spec["versions"].items()) there |= version["name"] == stored;
    if (!there)
      causes.push_back(invalid_value("status.storedVersions[0]", stored,
                                     "missing from spec.versions; " + std::string(stored.string_or("")) +
                                         " was previously a storage version, and must remain in spec.versions until a "
                                         "storage migration ensures no data remains persisted in " +
                                         std::string(stored.string_or("")) + " and removes " +
                                         std::string(stored.string_or("")) + " from status.storedVersions"));
  }
}

}  // namespace fairlead::sandbox
