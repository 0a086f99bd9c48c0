#include "sandbox/verbs/internal/plain_paths.h"

#include <fmt/format.h>

#include <algorithm>

#include "sandbox/verbs/internal/openapi.h"

namespace fairlead::sandbox {
namespace {

Json version_json() {
  std::string version(schema::builtin_version());
  size_t dot = version.find('.');
  std::string minor = version.substr(dot + 1, version.find('.', dot + 1) - dot - 1);
  return Json::Object{{"major", version.substr(1, dot - 1)},
                      {"minor", minor},
                      {"gitVersion", version + "+sandbox"},
                      {"gitCommit", ""},
                      {"gitTreeState", "clean"},
                      {"buildDate", "1970-01-01T00:00:00Z"},
                      {"goVersion", ""},
                      {"compiler", ""},
                      {"platform", "linux/amd64"}};
}

}  // namespace

std::optional<Reply> plain_path(const Core& core, const Call& call) {
  const std::vector<std::string>& steps = call.route.steps;
  if (steps.empty()) {
    Json::Array paths{"/api", "/api/v1", "/apis", "/apis/"};
    std::string last;
    for (const Kind* kind : core.kinds.in_order()) {
      if (kind->group.empty() || kind->api_version() == last) continue;
      last = kind->api_version();
      Json group("/apis/" + kind->group);
      if (std::find(paths.begin(), paths.end(), group) == paths.end()) paths.push_back(std::move(group));
      paths.emplace_back("/apis/" + last);
    }
    for (std::string_view path : {"/healthz", "/livez", "/metrics", "/readyz", "/version"}) paths.emplace_back(path);
    return Reply::of(Json::Object{{"paths", std::move(paths)}});
  }
  if (steps[0] == "version" && steps.size() == 1) return Reply::of(version_json());
  if (steps[0] == "healthz" || steps[0] == "livez" || steps[0] == "readyz") return Reply::plain("ok");
  if (steps[0] == "openapi") return open_api(core, call);
  if (steps[0] == "logs" || steps[0] == "debug") return Reply::refused(not_implemented(call.route.path));
  return std::nullopt;
}

}  // namespace fairlead::sandbox
