#include "sandbox/kinds/internal/webhook_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "admission/exempt.h"
#include "sandbox/kinds/internal/expression_rules.h"

namespace fairlead::sandbox {
namespace {

bool has(const Json& list, std::string_view word) {
  return std::any_of(list.items().begin(), list.items().end(),
                     [&](const Json& one) { return one.string_or("") == word; });
}

void check_resources(const Json& list, const std::string& at, std::vector<Cause>& causes) {
  if (list.items().empty()) {
    causes.push_back(required(at, ""));
    return;
  }
  bool everything = has(list, "*/*"), no_subresources = has(list, "*");
  if (everything && list.items().size() > 1)
    causes.push_back(invalid_value(at, list, "if '*/*' is present, must not specify other resources"));
  for (size_t i = 0; i < list.items().size(); ++i) {
    std::string_view one = list.items()[i].string_or("");
    if (everything && one != "*/*")
      causes.push_back(invalid_value(fmt::format("{}[{}]", at, i), list.items()[i],
                                     fmt::format("if '*/*' is present, must not specify {}", one)));
    if (no_subresources && one != "*" && one.find('/') == std::string_view::npos) {
      causes.push_back(
          invalid_value(at, list, "if '*' is present, must not specify other resources without subresources"));
      return;
    }
  }
}

}  // namespace

void check_admission_rule(const Json& rule, const std::string& at, std::vector<Cause>& causes) {
  const Json& operations = rule["operations"];
  if (operations.items().empty()) causes.push_back(required(at + ".operations", ""));
  if (operations.items().size() > 1 && has(operations, "*"))
    causes.push_back(
        invalid_value(at + ".operations", operations, "if '*' is present, must not specify other operations"));
  for (size_t i = 0; i < operations.items().size(); ++i) {
    std::string_view one = operations.items()[i].string_or("");
    if (one != "*" && one != "CONNECT" && one != "CREATE" && one != "DELETE" && one != "UPDATE")
      causes.push_back(unsupported_value(fmt::format("{}.operations[{}]", at, i), operations.items()[i],
                                         {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}));
  }
  for (std::string_view field : {"apiGroups", "apiVersions"}) {
    const Json& list = rule[field];
    if (list.items().empty()) causes.push_back(required(fmt::format("{}.{}", at, field), ""));
    if (list.items().size() > 1 && has(list, "*"))
      causes.push_back(invalid_value(fmt::format("{}.{}", at, field), list,
                                     fmt::format("if '*' is present, must not specify other {}",
                                                 field == "apiGroups" ? "API groups" : "API versions")));
  }
  check_resources(rule["resources"], at + ".resources", causes);
  std::string_view scope = rule["scope"].string_or("*");
  if (scope != "*" && scope != "Cluster" && scope != "Namespaced")
    causes.push_back(unsupported_value(at + ".scope", rule["scope"], {"*", "Cluster", "Namespaced"}));
}

namespace {

void check_client(const Json& client, const std::string& at, std::vector<Cause>& causes) {
  if (client.contains("url") == client.contains("service")) {
    causes.push_back(required(at, "exactly one of url or service is required"));
    return;
  }
  std::string_view url = client["url"].string_or("");
  if (url.empty()) return;
  std::string_view scheme = url.substr(0, url.find("://"));
  if (scheme != "https")
    causes.push_back(invalid_value(at + ".url", Json(scheme),
                                   "'https' is the only allowed URL scheme; desired format: https://host[/path]"));
}

// The resources of a rule for which no webhook is called, as the rule names them. A rule with a wildcard may well be
// meant for others, so it names none.
std::vector<std::string> exempt_resources(const Json& rule) {
  std::vector<std::string> found;
  if (has(rule["apiGroups"], "*") || has(rule["resources"], "*")) return found;
  for (const Json& group : rule["apiGroups"].items())
    for (const Json& resource : rule["resources"].items()) {
      if (!admission::is_virtual_review(group.string_or(""), resource.string_or(""))) continue;
      std::string name = fmt::format("{}.{}", resource.string_or(""), group.string_or(""));
      if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(std::move(name));
    }
  return found;
}

}  // namespace

void check_static_name(const Json* live, const Json& object, std::vector<Cause>& causes) {
  constexpr std::string_view kSuffix = ".static.k8s.io";
  const Json& name = object["metadata"]["name"];
  if (live || !name.string_or("").ends_with(kSuffix)) return;
  causes.push_back(invalid_value("metadata.name", name,
                                 fmt::format("names ending with \"{}\" are reserved for static manifest-based "
                                             "configurations and cannot be managed via the API",
                                             kSuffix)));
}

std::vector<std::string> webhook_warnings(const Json& object) {
  std::vector<std::string> warnings;
  const Json::Array& hooks = object["webhooks"].items();
  for (size_t i = 0; i < hooks.size(); ++i) {
    const Json::Array& rules = hooks[i]["rules"].items();
    for (size_t j = 0; j < rules.size(); ++j)
      for (const std::string& resource : exempt_resources(rules[j]))
        warnings.push_back(
            fmt::format("webhooks[{}].rules[{}]: {} is excluded from admission webhooks; this rule will have no effect",
                        i, j, resource));
  }
  return warnings;
}

void validate_webhooks(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  std::vector<std::string> names;
  for (size_t i = 0; i < object["webhooks"].items().size(); ++i) {
    const Json& hook = object["webhooks"].items()[i];
    std::string at = fmt::format("webhooks[{}]", i);
    std::string name(hook["name"].string_or(""));
    if (name.empty()) causes.push_back(required(at + ".name", ""));
    else if (std::count(name.begin(), name.end(), '.') < 2)
      causes.push_back(
          invalid_value(at + ".name", Json(name), "should be a domain with at least three segments separated by dots"));
    for (size_t j = 0; j < hook["rules"].items().size(); ++j)
      check_admission_rule(hook["rules"].items()[j], fmt::format("{}.rules[{}]", at, j), causes);
    std::string_view effects = hook["sideEffects"].string_or("");
    if (effects.empty()) causes.push_back(required(at + ".sideEffects", "must specify one of None, NoneOnDryRun"));
    else if (effects != "None" && effects != "NoneOnDryRun")
      causes.push_back(unsupported_value(at + ".sideEffects", hook["sideEffects"], {"None", "NoneOnDryRun"}));
    int64_t timeout = hook["timeoutSeconds"].int_or(10);
    if (timeout < 1 || timeout > 30)
      causes.push_back(
          invalid_value(at + ".timeoutSeconds", Json(timeout), "the timeout value must be between 1 and 30 seconds"));
    check_client(hook["clientConfig"], at + ".clientConfig", causes);
    const Json& versions = hook["admissionReviewVersions"];
    if (versions.items().empty())
      causes.push_back(required(at + ".admissionReviewVersions", "must specify one of v1, v1beta1"));
    else if (!has(versions, "v1") && !has(versions, "v1beta1"))
      causes.push_back(
          invalid_value(at + ".admissionReviewVersions", versions, "must include at least one of v1, v1beta1"));
    check_conditions(hook["matchConditions"], at + ".matchConditions",
                     {"object", "oldObject", "request", "namespaceObject"}, causes);
    if (std::find(names.begin(), names.end(), name) != names.end())
      causes.push_back(duplicate_value(at + ".name", Json(name)));
    names.push_back(std::move(name));
  }
  check_static_name(live, object, causes);
}

}  // namespace fairlead::sandbox
