#include "readiness/shadow_objects.h"

#include <fmt/chrono.h>

#include <charconv>

#include "base/timestamp.h"

namespace fairlead::readiness {
namespace {

constexpr std::string_view kGroup = "admissionregistration.k8s.io";
constexpr std::string_view kProbeName = "fairlead-probe";
constexpr std::string_view kGuestDomain = ".marker.fairlead.dev";

std::string timestamp(WallTime time) {
  auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

object::Resource registration(std::string_view version, std::string kind, std::string plural) {
  return {.group = std::string(kGroup),
          .version = std::string(version),
          .kind = std::move(kind),
          .plural = std::move(plural),
          .singular = {},
          .namespaced = false,
          .short_names = {},
          .verbs = {},
          .categories = {}};
}

Json skeleton(const object::Resource& resource, std::string_view name) {
  return Json::Object{
      {"apiVersion", resource.api_version()}, {"kind", resource.kind}, {"metadata", Json::Object{{"name", name}}}};
}

Json shadow_skeleton(const object::Resource& resource, const Stamp& stamp) {
  Json object = skeleton(resource, stamp.name());
  Json& metadata = object.make("metadata");
  metadata.make("labels") = Json::Object{{std::string(kShadowLabel), stamp.run}};
  metadata.make("annotations") = Json::Object{{std::string(kExpiryAnnotation), timestamp(stamp.expires)}};
  return object;
}

Json conditions(const Stamp& stamp) {
  return Json::Array{Json::Object{{"name", "fairlead-probe"},
                                  {"expression", fmt::format("request.dryRun && has(request.options.fieldManager) && "
                                                             "request.options.fieldManager == '{}'",
                                                             stamp.manager())}}};
}

Json probe_rule(ProbeKind kind) {
  object::Resource resource = probe_object(kind).resource;
  return Json::Object{{"apiGroups", Json::Array{resource.group}},
                      {"apiVersions", Json::Array{resource.version}},
                      {"operations", Json::Array{"CREATE"}},
                      {"resources", Json::Array{resource.plural}},
                      {"scope", resource.namespaced ? "Namespaced" : "Cluster"}};
}

Json hook(std::string name, Json client_config, const std::vector<std::string>& versions, int seconds, bool mutating,
          const Stamp& stamp) {
  Json::Array reviews;
  for (const std::string& version : versions) reviews.emplace_back(version);
  Json::Object made{{"name", std::move(name)},
                    {"clientConfig", std::move(client_config)},
                    {"rules", Json::Array{probe_rule(stamp.probe)}},
                    {"matchConditions", conditions(stamp)},
                    {"matchPolicy", "Exact"},
                    {"failurePolicy", "Fail"},
                    {"sideEffects", "None"},
                    {"timeoutSeconds", seconds},
                    {"admissionReviewVersions", std::move(reviews)}};
  if (mutating) made.append("reinvocationPolicy", "Never");
  return made;
}

// The call fails at once, without a network packet, because the Service does not exist.
Json marker_hook(std::string name, bool mutating, const Stamp& stamp) {
  Json nowhere = Json::Object{
      {"service", Json::Object{{"namespace", "fairlead-shadow"}, {"name", "nowhere"}, {"path", "/"}, {"port", 443}}}};
  return hook(std::move(name), std::move(nowhere), {"v1"}, 1, mutating, stamp);
}

Json marker_policy(GuardKind kind, const object::Resource& resource, const Stamp& stamp) {
  Json policy = shadow_skeleton(resource, stamp);
  Json& spec = policy.make("spec");
  // The policy still refuses its probes; an error in evaluating it affects nobody.
  spec.make("failurePolicy") = "Ignore";
  Json& constraints = spec.make("matchConstraints");
  constraints.make("matchPolicy") = "Exact";
  constraints.make("resourceRules") = Json::Array{probe_rule(stamp.probe)};
  spec.make("matchConditions") = conditions(stamp);
  if (kind == GuardKind::validating_policies) {
    spec.make("validations") =
        Json::Array{Json::Object{{"expression", "false"}, {"message", "a probe of fairlead, refused on purpose"}}};
    return policy;
  }
  spec.make("reinvocationPolicy") = "Never";
  std::string expression =
      fmt::format(R"(Object{{metadata: Object.metadata{{annotations: {{"{}": "{}"}}}}}})", kShadowLabel, stamp.name());
  spec.make("mutations") =
      Json::Array{Json::Object{{"patchType", "ApplyConfiguration"},
                               {"applyConfiguration", Json::Object{{"expression", std::move(expression)}}}}};
  return policy;
}

Json marker_binding(GuardKind kind, const object::Resource& resource, const Stamp& stamp) {
  Json binding = shadow_skeleton(resource, stamp);
  Json& spec = binding.make("spec");
  spec.make("policyName") = stamp.name();
  if (kind == GuardKind::validating_policies) spec.make("validationActions") = Json::Array{"Deny"};
  return binding;
}

}  // namespace

std::string Stamp::name() const { return fmt::format("0-fairlead-shadow-{}-{}", run, number); }
std::string Stamp::manager() const { return fmt::format("fairlead-{}-{}", run, number); }
std::string Stamp::marker() const { return fmt::format("marker.{}.{}.shadow.fairlead.dev", number, run); }
std::string Stamp::mirror() const { return fmt::format("mirror.{}.{}.shadow.fairlead.dev", number, run); }
std::string Stamp::guest() const {
  auto seconds = std::chrono::floor<std::chrono::seconds>(expires).time_since_epoch().count();
  return fmt::format("m{}-{}.{}{}", number, seconds, run, kGuestDomain);
}

std::string plain_run(std::string_view run) {
  std::string plain;
  for (char c : run.substr(0, 30)) {
    bool letter = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    if (c >= 'A' && c <= 'Z') plain += char(c - 'A' + 'a');
    else plain += letter || digit ? c : '-';
  }
  size_t first = plain.find_first_not_of('-');
  if (first == std::string::npos) return "run";
  return plain.substr(first, plain.find_last_not_of('-') - first + 1);
}

std::vector<object::Resource> resources_of(GuardKind kind, std::string_view version) {
  switch (kind) {
    case GuardKind::validating_webhooks: return {*configurations_of("ValidatingWebhookConfiguration")};
    case GuardKind::mutating_webhooks: return {*configurations_of("MutatingWebhookConfiguration")};
    case GuardKind::validating_policies:
      return {registration("v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
              registration("v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings")};
    case GuardKind::mutating_policies:
      return {registration(version, "MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
              registration(version, "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings")};
  }
  return {};
}

std::optional<object::Resource> configurations_of(std::string_view kind) {
  if (kind == "ValidatingWebhookConfiguration")
    return registration("v1", std::string(kind), "validatingwebhookconfigurations");
  if (kind == "MutatingWebhookConfiguration")
    return registration("v1", std::string(kind), "mutatingwebhookconfigurations");
  return std::nullopt;
}

std::vector<Json> marker_objects(GuardKind kind, const Stamp& stamp, std::string_view version) {
  std::vector<object::Resource> resources = resources_of(kind, version);
  if (resources.size() == 2)
    return {marker_policy(kind, resources[0], stamp), marker_binding(kind, resources[1], stamp)};
  Json configuration = shadow_skeleton(resources[0], stamp);
  configuration.make("webhooks") =
      Json::Array{marker_hook(stamp.marker(), kind == GuardKind::mutating_webhooks, stamp)};
  return {std::move(configuration)};
}

Json mirror_object(const Stamp& stamp, const Target& target, int seconds) {
  Json configuration = shadow_skeleton(resources_of(GuardKind::mutating_webhooks)[0], stamp);
  configuration.make("webhooks") =
      Json::Array{hook(stamp.mirror(), target.client_config, target.review_versions, seconds, true, stamp),
                  marker_hook(stamp.marker(), true, stamp)};
  return configuration;
}

Json guest_patch(const object::Resource& resource, std::string_view name, std::string_view uid, bool mutating,
                 const Stamp& stamp) {
  Json patch = empty_patch(resource, name, uid);
  patch.make("webhooks") = Json::Array{marker_hook(stamp.guest(), mutating, stamp)};
  return patch;
}

Json empty_patch(const object::Resource& resource, std::string_view name, std::string_view uid) {
  Json patch = skeleton(resource, name);
  patch.make("metadata").make("uid") = uid;
  return patch;
}

bool keeps_conditions(const Json& object) {
  std::string_view kind = object["kind"].string_or("");
  if (kind.ends_with("Binding")) return true;
  if (kind.ends_with("Policy")) return !object["spec"]["matchConditions"].items().empty();
  for (const Json& one : object["webhooks"].items()) {
    std::string_view name = one["name"].string_or("");
    bool ours = name.ends_with(".shadow.fairlead.dev") || name.ends_with(kGuestDomain);
    if (ours && one["matchConditions"].items().empty()) return false;
  }
  return true;
}

ProbeObject probe_object(ProbeKind kind) {
  object::Resource resource;
  resource.version = "v1";
  if (kind == ProbeKind::config_map) {
    resource.kind = "ConfigMap";
    resource.plural = "configmaps";
    resource.namespaced = true;
    return {resource, skeleton(resource, kProbeName)};
  }
  resource.group = "node.k8s.io";
  resource.kind = "RuntimeClass";
  resource.plural = "runtimeclasses";
  Json object = skeleton(resource, kProbeName);
  object.make("handler") = kProbeName;
  return {resource, std::move(object)};
}

std::optional<Ownership> shadow_ownership(const Json& object) {
  const Json& metadata = object["metadata"];
  std::string_view run = metadata["labels"][kShadowLabel].string_or("");
  std::optional<WallTime> expires = parse_timestamp(metadata["annotations"][kExpiryAnnotation].string_or(""));
  bool named = metadata["name"].string_or("").starts_with("0-fairlead-shadow-");
  if (run.empty() || !expires || !named) return std::nullopt;
  return Ownership{std::string(run), *expires};
}

std::optional<Ownership> guest_ownership(std::string_view hook) {
  if (!hook.starts_with('m') || !hook.ends_with(kGuestDomain)) return std::nullopt;
  hook.remove_suffix(kGuestDomain.size());
  size_t dash = hook.find('-'), dot = hook.find('.');
  if (dash == std::string_view::npos || dot == std::string_view::npos || dash > dot) return std::nullopt;
  std::string_view digits = hook.substr(dash + 1, dot - dash - 1);
  int64_t seconds = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  // The range that a count of nanoseconds can represent.
  bool sound = error == std::errc() && end == digits.data() + digits.size() && seconds > 0 && seconds < 9'000'000'000;
  if (!sound) return std::nullopt;
  return Ownership{std::string(hook.substr(dot + 1)), WallTime(std::chrono::seconds(seconds))};
}

}  // namespace fairlead::readiness
