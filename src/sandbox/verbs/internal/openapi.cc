#include "sandbox/verbs/internal/openapi.h"

#include <fmt/format.h>

#include <algorithm>

#include "sandbox/core/custom_kind.h"

namespace fairlead::sandbox {
namespace {

std::string path_of(const Kind& kind) { return kind.group.empty() ? "api/v1" : "apis/" + kind.api_version(); }

Json parameter(std::string_view name, std::string_view type) {
  return Json::Object{{"name", name}, {"in", "query"}, {"schema", Json::Object{{"type", type}, {"uniqueItems", true}}}};
}

Json operation(const Kind& kind, std::string_view action) {
  Json::Array parameters{parameter("dryRun", "string"), parameter("fieldManager", "string"),
                         parameter("fieldValidation", "string")};
  if (action == "patch") parameters.push_back(parameter("force", "boolean"));
  return Json::Object{{"parameters", std::move(parameters)},
                      {"responses", Json::Object{{"200", Json::Object{{"description", "OK"}}}}},
                      {"x-kubernetes-action", action},
                      {"x-kubernetes-group-version-kind",
                       Json::Object{{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}}};
}

Json paths_of(const Core& core, std::string_view path) {
  Json::Object paths;
  for (const Kind* kind : core.kinds.in_order()) {
    if (path_of(*kind) != path) continue;
    std::string base = fmt::format("/{}/{}{}", path, kind->namespaced ? "namespaces/{namespace}/" : "", kind->resource);
    if (kind->allows("create")) paths[base].make("post") = operation(*kind, "post");
    if (kind->allows("update")) paths[base + "/{name}"].make("put") = operation(*kind, "put");
    if (kind->allows("patch")) paths[base + "/{name}"].make("patch") = operation(*kind, "patch");
  }
  return paths;
}

constexpr std::string_view kConventions =
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

// A custom resource as its definition has it, with what every object has.
Json published_schema_of(const Kind& kind) {
  Json schema = kind.custom->open_api_schema.is_object() ? kind.custom->open_api_schema : Json(Json::Object{});
  schema.make("type") = "object";
  Json& properties = schema.make("properties");
  properties.make("apiVersion") = Json::Object{
      {"description",
       fmt::format(
           "APIVersion defines the versioned schema of this representation of an object. Servers should convert "
           "recognized schemas to the latest internal value, and may reject unrecognized values. More info: "
           "{}#resources",
           kConventions)},
      {"type", "string"}};
  properties.make("kind") = Json::Object{
      {"description",
       fmt::format(
           "Kind is a string value representing the REST resource this object represents. Servers may infer this "
           "from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: "
           "{}#types-kinds",
           kConventions)},
      {"type", "string"}};
  properties.make("metadata") = Json::Object{
      {"description", fmt::format("Standard object's metadata. More info: {}#metadata", kConventions)},
      {"allOf",
       Json::Array{Json::Object{{"$ref", "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}}}}};
  schema.make("x-kubernetes-group-version-kind") =
      Json::Array{Json::Object{{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}}};
  return schema;
}

// "stable.example.org" and v1: org.example.stable.v1.
std::string schema_name(const Kind& kind) {
  std::string name = kind.version + "." + kind.kind;
  std::string_view group = kind.group;
  while (!group.empty()) {
    size_t dot = std::min(group.find('.'), group.size());
    name = fmt::format("{}.{}", group.substr(0, dot), name);
    group.remove_prefix(std::min(dot + 1, group.size()));
  }
  return name;
}

// Those of custom resources; the built-in types have no descriptions here, and are left out.
Json schemas_of(const Core& core, std::string_view path) {
  Json::Object schemas;
  for (const Kind* kind : core.kinds.in_order())
    if (kind->custom && path_of(*kind) == path) schemas[schema_name(*kind)] = published_schema_of(*kind);
  return schemas;
}

}  // namespace

std::optional<Reply> open_api(const Core& core, const Call& call) {
  const std::vector<std::string>& steps = call.route.steps;
  if (steps.size() < 2 || steps[1] != "v3")
    return Reply::refused(not_implemented(fmt::format("{}; /openapi/v3 has the group versions", call.route.path)));
  std::string path;
  for (size_t i = 2; i < steps.size(); ++i) path += (path.empty() ? "" : "/") + steps[i];
  if (path.empty()) {
    Json::Object list;
    for (const Kind* kind : core.kinds.in_order()) {
      std::string own = path_of(*kind);
      // The version stands for a hash: clients may keep what they have read until it changes.
      list[own] =
          Json::Object{{"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={:X}", own, core.store.version())}};
    }
    return Reply::of(Json::Object{{"paths", std::move(list)}});
  }
  Json paths = paths_of(core, path);
  if (paths.members().empty()) return std::nullopt;
  return Reply::of(Json::Object{{"openapi", "3.0.0"},
                                {"info", Json::Object{{"title", "Kubernetes"}, {"version", schema::builtin_version()}}},
                                {"paths", std::move(paths)},
                                {"components", Json::Object{{"schemas", schemas_of(core, path)}}}});
}

}  // namespace fairlead::sandbox
