#include "rollout_manifests.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::sim {
namespace {

constexpr std::string_view kLeftover = "leftover";

}  // namespace

using Object = Json::Object;
using Array = Json::Array;

Json blank(std::string_view version, std::string_view kind, std::string_view ns, std::string_view name) {
  Object metadata{{"name", name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return Object{{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

Json pod_template(Object labels, Object annotations, Object spec) {
  spec.append("containers", Array{Object{{"name", "main"}, {"image", "main:1"}}});
  return Object{{"metadata", Object{{"labels", std::move(labels)}, {"annotations", std::move(annotations)}}},
                {"spec", std::move(spec)}};
}

Json deployment(std::string_view ns, std::string_view name, uint64_t replicas, Json pods) {
  Json object = blank("apps/v1", "Deployment", ns, name);
  object.make("spec") = Object{{"replicas", replicas},
                               {"selector", Object{{"matchLabels", Object{{"app", name}}}}},
                               {"template", std::move(pods)}};
  return object;
}

Json job(std::string_view ns, std::string_view name, Json pods) {
  Json object = blank("batch/v1", "Job", ns, name);
  object.make("spec") = Object{{"template", std::move(pods)}};
  return object;
}

Json service(std::string_view ns, std::string_view name, std::string_view app) {
  Json object = blank("v1", "Service", ns, name);
  object.make("spec") =
      Object{{"selector", Object{{"app", app}}}, {"ports", Array{Object{{"port", 443}, {"targetPort", 8443}}}}};
  return object;
}

Json config_map(std::string_view ns, std::string_view name, std::string_view value) {
  Json object = blank("v1", "ConfigMap", ns, name);
  object.make("data") = Object{{"of", value}};
  return object;
}

Json secret(std::string_view ns, std::string_view name) {
  Json object = blank("v1", "Secret", ns, name);
  object.make("data") = Object{{"key", "dmFsdWU="}};
  return object;
}

Json definition(std::string_view kind, std::string_view plural, Json conversion) {
  auto version = [](std::string_view name, bool storage) {
    Object spec{{"type", "object"}, {"properties", Object{{"size", Object{{"type", "integer"}}}}}};
    Object schema{{"type", "object"}, {"properties", Object{{"spec", std::move(spec)}}}};
    return Object{{"name", name},
                  {"served", true},
                  {"storage", storage},
                  {"schema", Object{{"openAPIV3Schema", std::move(schema)}}}};
  };
  Array versions{version("v1", true)};
  if (!conversion.is_null()) versions.push_back(version("v1beta1", false));
  std::string singular(kind);
  std::ranges::transform(singular, singular.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  Json object = blank("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", fmt::format("{}.example.com", plural));
  object.make("spec") = Object{
      {"group", "example.com"},
      {"scope", "Namespaced"},
      {"names",
       Object{{"plural", plural}, {"singular", singular}, {"kind", kind}, {"listKind", fmt::format("{}List", kind)}}},
      {"versions", std::move(versions)}};
  if (!conversion.is_null()) object.make("spec").make("conversion") = std::move(conversion);
  return object;
}

Json api_service() {
  Json object = blank("apiregistration.k8s.io/v1", "APIService", "", fmt::format("v1.{}", kExtensionGroup));
  size_t slash = kExtensionService.find('/');
  object.make("spec") = Object{{"group", kExtensionGroup},
                               {"version", "v1"},
                               {"groupPriorityMinimum", 1000},
                               {"versionPriority", 10},
                               {"insecureSkipTLSVerify", true},
                               {"service", Object{{"namespace", kExtensionService.substr(0, slash)},
                                                  {"name", kExtensionService.substr(slash + 1)},
                                                  {"port", 443}}}};
  return object;
}

Object hook(HookManifest with) {
  Array operations{"CREATE"};
  if (with.on_update) operations.push_back("UPDATE");
  if (with.on_delete) operations.push_back("DELETE");
  return Object{{"name", std::move(with.name)},
                {"clientConfig", std::move(with.client_config)},
                {"rules", Array{Object{{"apiGroups", Array{std::move(with.group)}},
                                       {"apiVersions", Array{"*"}},
                                       {"operations", std::move(operations)},
                                       {"resources", Array{std::move(with.resource)}}}}},
                {"failurePolicy", with.ignore ? "Ignore" : "Fail"},
                {"timeoutSeconds", with.timeout_seconds},
                {"sideEffects", "None"},
                {"admissionReviewVersions", Array{"v1"}}};
}

Json configuration(std::string_view name, bool mutating, Array hooks) {
  Json object = blank(fmt::format("{}/v1", kAdmissionGroup),
                      mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration", "", name);
  object.make("webhooks") = std::move(hooks);
  return object;
}

Json with_leftovers(Json object) {
  object.make("metadata").make("labels").make(kLeftover) = "here";
  if (object["kind"].string_or("") == "ConfigMap") object.make("data").make(kLeftover) = "here";
  return object;
}

bool has_leftovers(const Json& object) {
  const Json& metadata = object["metadata"];
  return metadata["labels"].contains(kLeftover) || object["data"].contains(kLeftover) ||
         metadata["annotations"].contains(kHelmRelease);
}

}  // namespace fairlead::sim
