#include "sandbox/verbs/internal/discovery.h"

#include <fmt/format.h>

#include "sandbox/core/api_services.h"
#include "sandbox/verbs/internal/read.h"

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kAggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

Json strings(const std::vector<std::string>& texts) {
  Json::Array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

Json group_version(std::string_view group, std::string_view version) {
  return Json::Object{{"groupVersion", fmt::format("{}/{}", group, version)}, {"version", version}};
}

struct Group {
  std::string name;
  std::vector<std::string> versions;
};

// The core group is not among them.
std::vector<Group> groups_of(const Core& core) {
  std::vector<Group> groups;
  for (const Kind* kind : core.kinds.in_order()) {
    if (kind->group.empty()) continue;
    if (groups.empty() || groups.back().name != kind->group) groups.push_back({kind->group, {}});
    std::vector<std::string>& versions = groups.back().versions;
    if (std::find(versions.begin(), versions.end(), kind->version) == versions.end()) versions.push_back(kind->version);
  }
  for (const ServedElsewhere& other : served_elsewhere(core)) {
    auto of = std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.name == other.group; });
    if (of == groups.end()) of = groups.insert(groups.end(), {other.group, {}});
    of->versions.push_back(other.version);
  }
  return groups;
}

Json group_json(const Group& group, bool alone) {
  Json::Object object;
  if (alone) {
    object.append("kind", "APIGroup");
    object.append("apiVersion", "v1");
  }
  Json::Array versions;
  for (const std::string& version : group.versions) versions.push_back(group_version(group.name, version));
  object.append("name", group.name);
  object.append("versions", std::move(versions));
  object.append("preferredVersion", group_version(group.name, group.versions.front()));
  return object;
}

Json resource_list(const Core& core, std::string_view group, std::string_view version) {
  Json::Array resources;
  bool custom = false;
  for (const Kind* kind : core.kinds.in_order()) {
    if (kind->group != group || kind->version != version) continue;
    custom = custom || kind->custom != nullptr;
    Json::Object resource{{"name", kind->resource},
                          {"singularName", kind->singular},
                          {"namespaced", kind->namespaced},
                          {"kind", kind->kind},
                          {"verbs", strings(kind->verbs)}};
    if (!kind->short_names.empty()) resource.append("shortNames", strings(kind->short_names));
    if (!kind->categories.empty()) resource.append("categories", strings(kind->categories));
    if (!kind->storage_version_hash.empty()) resource.append("storageVersionHash", kind->storage_version_hash);
    resources.push_back(std::move(resource));
    for (const Subresource& sub : kind->subresources) {
      Json::Object entry{
          {"name", kind->resource + "/" + sub.name}, {"singularName", ""}, {"namespaced", kind->namespaced}};
      if (!sub.group.empty() && sub.group != kind->group) entry.append("group", sub.group);
      if (!sub.version.empty() && !sub.group.empty()) entry.append("version", sub.version);
      entry.append("kind", sub.kind);
      entry.append("verbs", strings(sub.verbs));
      resources.push_back(std::move(entry));
    }
  }
  Json::Object list{{"kind", "APIResourceList"}};
  // The core group's answer is older than the rest, and has no apiVersion.
  if (!group.empty()) list.append("apiVersion", "v1");
  list.append("groupVersion", group.empty() ? std::string(version) : fmt::format("{}/{}", group, version));
  list.append("resources", std::move(resources));
  return list;
}

Json kind_ref(const Kind& kind, const Subresource* sub) {
  if (sub && !sub->group.empty() && sub->group != kind.group)
    return Json::Object{{"group", sub->group}, {"version", sub->version}, {"kind", sub->kind}};
  return Json::Object{{"group", kind.custom ? kind.group : ""},
                      {"version", kind.custom ? kind.version : ""},
                      {"kind", sub ? sub->kind : kind.kind}};
}

Json aggregated_versions(const Core& core, const Group& group) {
  Json::Array versions;
  for (const std::string& version : group.versions) {
    Json::Array resources;
    for (const Kind* kind : core.kinds.in_order()) {
      if (kind->group != group.name || kind->version != version) continue;
      Json::Object resource{{"resource", kind->resource},
                            {"responseKind", kind_ref(*kind, nullptr)},
                            {"scope", kind->namespaced ? "Namespaced" : "Cluster"},
                            {"singularResource", kind->singular},
                            {"verbs", strings(kind->verbs)}};
      if (!kind->short_names.empty()) resource.append("shortNames", strings(kind->short_names));
      if (!kind->categories.empty()) resource.append("categories", strings(kind->categories));
      Json::Array subs;
      for (const Subresource& sub : kind->subresources)
        subs.push_back(Json::Object{
            {"subresource", sub.name}, {"responseKind", kind_ref(*kind, &sub)}, {"verbs", strings(sub.verbs)}});
      if (!subs.empty()) resource.append("subresources", std::move(subs));
      resources.push_back(std::move(resource));
    }
    bool here = !resources.empty();
    for (const ServedElsewhere& other : served_elsewhere(core)) {
      auto known = core.extension_resources.find(other.group_version());
      if (other.group != group.name || other.version != version || known == core.extension_resources.end()) continue;
      for (const Json& resource : known->second.items()) resources.push_back(resource);
      here = other.available;
    }
    Json::Object entry{{"version", version}};
    if (!resources.empty()) entry.append("resources", std::move(resources));
    entry.append("freshness", here ? "Current" : "Stale");
    versions.push_back(std::move(entry));
  }
  return versions;
}

Reply aggregated(const Core& core, bool core_group) {
  Json::Array items;
  if (core_group) {
    items.push_back(Json::Object{{"metadata", Json::Object{}}, {"versions", aggregated_versions(core, {"", {"v1"}})}});
  } else {
    for (const Group& group : groups_of(core))
      items.push_back(Json::Object{{"metadata", Json::Object{{"name", group.name}}},
                                   {"versions", aggregated_versions(core, group)}});
  }
  Reply reply = Reply::of(Json::Object{{"kind", "APIGroupDiscoveryList"},
                                       {"apiVersion", "apidiscovery.k8s.io/v2"},
                                       {"metadata", Json::Object{}},
                                       {"items", std::move(items)}});
  reply.content_type = kAggregatedType;
  return reply;
}

bool wants_aggregated(std::string_view accept) {
  return accept.find("as=APIGroupDiscoveryList") != std::string_view::npos &&
         accept.find("v=v2") != std::string_view::npos;
}

}  // namespace

std::optional<Outcome<Reply>> discover(const Core& core, const Call& call) {
  const std::vector<std::string>& steps = call.route.steps;
  if (steps.empty() || call.route.is_resource) return std::nullopt;
  if (steps[0] == "api") {
    if (steps.size() == 1) {
      if (wants_aggregated(call.accept)) return aggregated(core, true);
      Json::Array addresses{Json::Object{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", core.options.address}}};
      return Reply::of(Json::Object{{"kind", "APIVersions"},
                                    {"versions", Json::Array{"v1"}},
                                    {"serverAddressByClientCIDRs", std::move(addresses)}});
    }
    if (steps.size() == 2 && steps[1] == "v1") {
      if (Outcome<Form> form = negotiate(call.accept, false); !form) return refuse(form.error());
      return Reply::of(resource_list(core, "", "v1"));
    }
    return refuse(unknown_resource());
  }
  if (steps[0] != "apis") return std::nullopt;
  if (steps.size() == 1) {
    if (wants_aggregated(call.accept)) return aggregated(core, false);
    Json::Array groups;
    for (const Group& group : groups_of(core)) groups.push_back(group_json(group, false));
    return Reply::of(Json::Object{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
  }
  for (const Group& group : groups_of(core)) {
    if (group.name != steps[1]) continue;
    if (steps.size() == 2) return Reply::of(group_json(group, true));
    if (core.kinds.has_version(steps[1], steps[2])) {
      if (Outcome<Form> form = negotiate(call.accept, false); !form) return refuse(form.error());
      return Reply::of(resource_list(core, steps[1], steps[2]));
    }
    if (Kinds::is_builtin_group(steps[1])) return refuse(unknown_resource());
  }
  return std::nullopt;
}

}  // namespace fairlead::sandbox
