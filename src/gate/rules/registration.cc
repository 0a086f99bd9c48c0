#include "gate/rules/registration.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gate/rules/kinds.h"

namespace fairlead::gate {
namespace {

// Resources by group; "*" for all of a group.
using Resources = std::map<std::string, std::set<std::string>>;

uint64_t hash_of(std::string_view text) {
  uint64_t hash = 14695981039346656037U;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

Json strings(const std::set<std::string>& texts) {
  Json::Array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

bool contains(const std::vector<std::string>& list, std::string_view value) {
  return std::ranges::find(list, value) != list.end();
}

bool is_for_writes(const admission::Rule& rule) {
  return contains(rule.operations, "*") || contains(rule.operations, "CREATE") || contains(rule.operations, "UPDATE");
}

bool names_resource(const admission::Rule& rule, std::string_view resource) {
  return std::ranges::any_of(rule.resources, [&](std::string_view each) {
    return each == "*" || each == "*/*" || each == resource ||
           (each.ends_with("/*") && each.substr(0, each.size() - 2) == resource);
  });
}

void add_built_in(Resources& into, const admission::Rule& rule) {
  for (const BuiltInGroup& group : built_in_groups()) {
    if (!contains(rule.groups, "*") && !contains(rule.groups, group.group)) continue;
    for (std::string_view resource : group.resources)
      if (names_resource(rule, resource)) into[std::string(group.group)].emplace(resource);
  }
}

// Only what the rule itself names; "*" for all.
void add_custom(Resources& into, const admission::Rule& rule, const std::set<std::string>& custom_groups) {
  for (const std::string& group : custom_groups) {
    if (!contains(rule.groups, "*") && !contains(rule.groups, group)) continue;
    for (const std::string& each : rule.resources) {
      std::string resource = each.substr(0, each.find('/'));
      bool is_subresource = each.contains('/') && !each.ends_with("/*");
      if (!is_subresource) into[group].insert(std::move(resource));
    }
  }
}

Json rules_of(const Resources& resources) {
  Json::Array rules;
  for (const auto& [group, names] : resources)
    rules.push_back(Json::Object{{"apiGroups", Json::Array{group}},
                                 {"apiVersions", Json::Array{"*"}},
                                 {"operations", Json::Array{"CREATE", "UPDATE"}},
                                 {"resources", names.contains("*") ? Json(Json::Array{"*"}) : strings(names)},
                                 {"scope", "*"}});
  return rules;
}

// The namespaces that are not gated, together with what a webhook itself selects.
Json namespace_selector(const Registrar& registrar, const Json& selected = {}) {
  Json selector = selected.is_object() ? selected : Json(Json::Object());
  Json::Array expressions = selector["matchExpressions"].items();
  std::set<std::string> excluded = {"kube-node-lease", "kube-system"};
  if (!registrar.ns.empty()) excluded.insert(registrar.ns);
  expressions.push_back(
      Json::Object{{"key", "kubernetes.io/metadata.name"}, {"operator", "NotIn"}, {"values", strings(excluded)}});
  expressions.push_back(Json::Object{{"key", kSwitchLabel}, {"operator", "NotIn"}, {"values", Json::Array{"off"}}});
  selector.make("matchExpressions") = std::move(expressions);
  return selector;
}

Json client_config(const Registrar& registrar) {
  Json config = Json::Object();
  if (registrar.service) {
    config.make("service") = Json::Object{{"namespace", registrar.service->ns},
                                          {"name", registrar.service->name},
                                          {"path", kPath},
                                          {"port", registrar.service->port}};
  } else {
    config.make("url") = registrar.url + std::string(kPath);
  }
  if (!registrar.ca_bundle.empty()) config.make("caBundle") = registrar.ca_bundle;
  return config;
}

Json hook_object(const Registrar& registrar, std::string name, const Resources& resources, int seconds,
                 const Json& selected_namespaces = {}) {
  return Json::Object{
      {"name", std::move(name)},      {"clientConfig", client_config(registrar)},
      {"rules", rules_of(resources)}, {"namespaceSelector", namespace_selector(registrar, selected_namespaces)},
      {"matchPolicy", "Exact"},       {"failurePolicy", "Ignore"},
      {"sideEffects", "None"},        {"reinvocationPolicy", "Never"},
      {"timeoutSeconds", seconds},    {"admissionReviewVersions", Json::Array{"v1"}}};
}

Json configuration(const Registrar& registrar, std::string_view what, Json::Array hooks) {
  Json webhooks = std::move(hooks);
  std::string name = fmt::format("{}{}-{:08x}", kConfigurationPrefix, what,
                                 static_cast<uint32_t>(hash_of(webhooks.dump()) & 0xffffffffU));
  return Json::Object{
      {"apiVersion", "admissionregistration.k8s.io/v1"},
      {"kind", "MutatingWebhookConfiguration"},
      {"metadata", Json::Object{{"name", std::move(name)},
                                {"labels", Json::Object{{std::string(kGateLabel), registrar.name},
                                                        {"app.kubernetes.io/managed-by", "fairlead"}}}}},
      {"webhooks", std::move(webhooks)}};
}

// Copies what decides whether the webhook is called, so that only requests that need it are held for long.
Json hold_hook(const Registrar& registrar, const Hook& hook, size_t number,
               const std::set<std::string>& custom_groups) {
  Resources resources;
  for (const admission::Rule& rule : hook.webhook.rules) {
    if (!is_for_writes(rule)) continue;
    add_built_in(resources, rule);
    add_custom(resources, rule, custom_groups);
  }
  if (resources.empty()) return {};
  Json made = hook_object(registrar, fmt::format("hold-{}.gate.fairlead.dev", number), resources,
                          registrar.hold_seconds, hook.stored["namespaceSelector"]);
  for (std::string_view key : {"objectSelector", "matchConditions"})
    if (const Json& value = hook.stored[key]; !value.is_null()) made.make(key) = value;
  return made;
}

}  // namespace

std::vector<Json> configurations(const Registrar& registrar, const std::set<std::string>& custom_groups,
                                 const std::vector<const Hook*>& hooks, const std::vector<const Hook*>& awaited) {
  std::vector<Json> made;
  auto add_kinds = [&](std::string_view group, const std::set<std::string>& resources) {
    std::string_view shown = group.empty() ? "core" : group;
    Json hook = hook_object(registrar, fmt::format("{}.kinds.gate.fairlead.dev", shown),
                            {{std::string(group), resources}}, registrar.seconds);
    made.push_back(configuration(registrar, fmt::format("kinds-{}", shown), {std::move(hook)}));
  };
  for (const std::string& group : custom_groups) add_kinds(group, {"*"});
  Resources built_in;
  for (const Hook* hook : hooks)
    for (const admission::Rule& rule : hook->webhook.rules)
      if (hook->webhook.service && is_for_writes(rule)) add_built_in(built_in, rule);
  for (const auto& [group, resources] : built_in) add_kinds(group, resources);
  Json::Array holds;
  for (const Hook* hook : awaited) {
    Json hold = hold_hook(registrar, *hook, holds.size(), custom_groups);
    if (!hold.is_null()) holds.push_back(std::move(hold));
  }
  if (!holds.empty()) made.push_back(configuration(registrar, "hold", std::move(holds)));
  return made;
}

std::string_view purpose_of(std::string_view name) { return name.substr(0, name.rfind('-')); }

bool is_own(const Json& configuration, std::string_view name) {
  return configuration["metadata"]["labels"][kGateLabel].string_or("") == name;
}

}  // namespace fairlead::gate
