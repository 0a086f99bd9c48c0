#include "webhook/dynamo/dynamo.h"
#include "webhook/install/internal/objects.h"

namespace fairlead::webhook::install {
namespace {

// "vdynamomodel.kb.io"
std::string hook_name(const Registration& registration) {
  std::string kind = registration.kind.kind;
  std::ranges::transform(kind, kind.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return "v" + kind + ".kb.io";
}

// Without a caBundle, which whoever makes the certificate registers; unless nobody does.
Json client_config(const Settings& settings, const Registration& registration) {
  Json::Object config{{"service", Json::Object{{"name", settings.name()},
                                               {"namespace", settings.release.ns},
                                               {"path", validating_path(registration)},
                                               {"port", 443}}}};
  if (settings.certificates == Certificates::external) config.append("caBundle", settings.ca_bundle);
  return config;
}

Json hook(const Settings& settings, const Registration& registration) {
  Json::Object hook{{"name", hook_name(registration)},
                    {"admissionReviewVersions", strings({"v1"})},
                    {"sideEffects", "None"},
                    {"failurePolicy", settings.failure_policy},
                    {"timeoutSeconds", settings.timeout_seconds},
                    {"clientConfig", client_config(settings, registration)},
                    {"rules", Json::Array{Json::Object{{"apiGroups", strings({registration.kind.group})},
                                                       {"apiVersions", strings({registration.kind.version})},
                                                       {"operations", strings({"CREATE", "UPDATE"})},
                                                       {"resources", strings({registration.resource})},
                                                       {"scope", "Namespaced"}}}}};
  if (!settings.namespace_selector.is_null()) hook.append("namespaceSelector", settings.namespace_selector);
  return hook;
}

}  // namespace

Objects configuration(const Settings& settings) {
  if (!settings.has_webhook) return {};
  Json configuration = object(settings, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
                              settings.configuration(), "");
  if (settings.certificates == Certificates::cert_manager)
    configuration.make("metadata").make("annotations") =
        Json::Object{{"cert-manager.io/inject-ca-from", settings.release.ns + "/" + settings.name() + "-serving"}};
  Json::Array hooks;
  for (const Registration& registration : dynamo_policies({}).registrations)
    hooks.push_back(hook(settings, registration));
  configuration.make("webhooks") = std::move(hooks);
  return {std::move(configuration)};
}

}  // namespace fairlead::webhook::install
