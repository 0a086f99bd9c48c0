#include "doctor/internal/reach.h"

#include <algorithm>

#include "admission/exempt.h"
#include "admission/match.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

using admission::Operation;

constexpr Operation kOperations[] = {Operation::create, Operation::update, Operation::remove, Operation::connect};

void add_once(std::vector<std::string>& texts, std::string text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
}

bool is_served(const Snapshot& snapshot, const std::string& group, const std::string& version,
               std::string_view resource) {
  return std::ranges::any_of(snapshot.resources, [&](const object::Resource& one) {
    return (group == "*" || one.group == group) && (version == "*" || one.version == version) && one.plural == resource;
  });
}

// Discovery does not list subresources: a rule that names one is believed if the resource is served.
void add_subresources(Reach& reach, const Snapshot& snapshot, const admission::Rule& rule) {
  for (const std::string& pattern : rule.resources) {
    size_t slash = pattern.find('/');
    if (slash == std::string::npos || slash == 0 || pattern.starts_with('*')) continue;
    for (const std::string& group : rule.groups)
      for (const std::string& version : rule.versions)
        if (is_served(snapshot, group, version, pattern.substr(0, slash))) {
          add_once(reach.resources, group.empty() || group == "*" ? pattern : pattern + "." + group);
          reach.has_namespaced = true;
          for (const std::string& operation : rule.operations) add_once(reach.operations, operation);
        }
  }
}

void add_resource(Reach& reach, const admission::Webhook& webhook, admission::Attributes& request,
                  const object::Resource& resource) {
  for (Operation operation : kOperations) {
    request.operation = operation;
    if (!admission::may_guard(webhook.rules, admission::MatchPolicy::exact, request)) continue;
    add_once(reach.operations, std::string(admission::name_of(operation)));
    add_once(reach.resources, resource.name_with_group());
    (resource.namespaced ? reach.has_namespaced : reach.has_cluster_scope) = true;
  }
}

void add_namespaces(Reach& reach, const Snapshot& snapshot, const admission::Webhook& webhook) {
  for (const Json& ns : snapshot.all("Namespace")) {
    bool matches = !webhook.namespace_selector || webhook.namespace_selector->matches(ns["metadata"]["labels"]);
    (matches ? reach.namespaces : reach.exempt).emplace_back(name_of(ns));
  }
}

}  // namespace

admission::Attributes request_for(const Snapshot& snapshot, const object::Resource& resource, std::string_view ns) {
  admission::Attributes request;
  request.resource = {.group = resource.group, .version = resource.version, .resource = resource.plural};
  request.kind = {.group = resource.group, .version = resource.version, .kind = resource.kind};
  request.ns = resource.namespaced ? std::string(ns) : "";
  request.object = Json::Object{{"metadata", Json::Object{}}};
  if (const Json* found = snapshot.find("Namespace", "", ns); found && resource.namespaced) request.ns_object = *found;
  return request;
}

std::string Reach::text() const {
  std::string text = fmt::format("{} of {}", listed(operations), listed(resources));
  if (!has_namespaced || namespaces.empty()) return text;
  if (exempt.empty()) return text + " in every namespace";
  return fmt::format("{} in {} of {} namespaces", text, namespaces.size(), namespaces.size() + exempt.size());
}

Reach reach_of(const Snapshot& snapshot, const admission::Webhook& webhook) {
  Reach reach;
  for (const object::Resource& resource : snapshot.resources) {
    // A namespace decides nothing here; its own check comes below.
    admission::Attributes request = request_for(snapshot, resource, resource.namespaced ? "default" : "");
    if (admission::is_exempt_from_webhooks(request.resource)) continue;
    add_resource(reach, webhook, request, resource);
  }
  for (const admission::Rule& rule : webhook.rules) add_subresources(reach, snapshot, rule);
  add_namespaces(reach, snapshot, webhook);
  return reach;
}

}  // namespace fairlead::doctor
