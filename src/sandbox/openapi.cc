#include "sandbox/openapi.h"

#include <fmt/format.h>

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
                                {"components", Json::Object{{"schemas", Json::Object{}}}}});
}

}  // namespace fairlead::sandbox
