// The manifests that random bundles are made of. Pure: what is drawn goes in.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::sim {

inline constexpr std::string_view kAdmissionGroup = "admissionregistration.k8s.io";
// Of the API that a server of the bundle serves, behind an APIService.
inline constexpr std::string_view kExtensionGroup = "metrics.example.com";
inline constexpr std::string_view kExtensionService = "op-3/api";

// Begins an object; no namespace for what is cluster-wide.
Json blank(std::string_view version, std::string_view kind, std::string_view ns, std::string_view name);

Json pod_template(Json::Object labels, Json::Object annotations, Json::Object spec);
Json deployment(std::string_view ns, std::string_view name, uint64_t replicas, Json pods);
Json job(std::string_view ns, std::string_view name, Json pods);
// Port 443 of the pods with the label app.
Json service(std::string_view ns, std::string_view name, std::string_view app);
Json config_map(std::string_view ns, std::string_view name, std::string_view value);
Json secret(std::string_view ns, std::string_view name);

// Of kind "Widget0" and plural "widget0s", in v1; where `conversion` is no null, in v1beta1 as well.
Json definition(std::string_view kind, std::string_view plural, Json conversion);
// An APIService of the extension's group, served by the extension's Service.
Json api_service();

// The object with fields that the bundle does not have: a label, and in a ConfigMap a key.
Json with_leftovers(Json object);
bool has_leftovers(const Json& object);
inline constexpr std::string_view kHelmRelease = "meta.helm.sh/release-name";

// One hook, for all of a resource (or of a group, "*").
struct HookManifest {
  std::string name;
  Json::Object client_config;
  std::string group;
  std::string resource;
  bool on_update = false;
  bool on_delete = false;
  bool ignore = false;
  uint64_t timeout_seconds = 10;
};
Json::Object hook(HookManifest with);
Json configuration(std::string_view name, bool mutating, Json::Array hooks);

}  // namespace fairlead::sim
