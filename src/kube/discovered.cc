#include "kube/discovered.h"

#include <algorithm>

namespace fairlead::kube {
namespace {

constexpr size_t kMaxResources = 100'000;

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> result;
  for (const Json& item : list.items())
    if (item.is_string()) result.emplace_back(item.string_or(""));
  return result;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

std::string joined(std::string_view a, std::string_view b, std::string_view c) {
  return fmt::format("{}/{}/{}", a, b, c);
}

bool goes_by(const object::Resource& resource, const std::string& name) {
  return resource.plural == name || resource.singular == name || lower(resource.kind) == name ||
         std::ranges::find(resource.short_names, name) != resource.short_names.end();
}

}  // namespace

void Discovered::add(object::Resource resource) {
  if (resource.kind.empty() || resource.plural.empty() || resources_.size() == kMaxResources) return;
  if (resource.singular.empty()) resource.singular = lower(resource.kind);
  // Of several resources of one kind (a proxy, a review) the first counts.
  by_kind_.emplace(joined(resource.group, resource.version, resource.kind), resources_.size());
  resources_.push_back(std::move(resource));
}

void Discovered::merge(Discovered other) {
  for (object::Resource& resource : other.resources_) add(std::move(resource));
  for (GroupProblem& problem : other.problems_) add_problem(std::move(problem));
}

void Discovered::add_aggregated(const Json& list) {
  for (const Json& group : list["items"].items()) {
    std::string_view group_name = group["metadata"]["name"].string_or("");
    for (const Json& version : group["versions"].items()) {
      std::string_view version_name = version["version"].string_or("");
      if (version["freshness"].string_or("") == "Stale")
        add_problem(
            {.group = std::string(group_name),
             .version = std::string(version_name),
             .why = fmt::format("the server behind APIService {}.{} does not answer", version_name, group_name)});
      for (const Json& entry : version["resources"].items()) {
        // Empty members of responseKind are those of the group and version around it.
        std::string plural(entry["resource"].string_or(""));
        add({.group = std::string(group_name),
             .version = std::string(version_name),
             .kind = std::string(entry["responseKind"]["kind"].string_or("")),
             .plural = std::move(plural),
             .singular = std::string(entry["singularResource"].string_or("")),
             .namespaced = entry["scope"].string_or("") == "Namespaced",
             .short_names = texts(entry["shortNames"]),
             .verbs = texts(entry["verbs"]),
             .categories = texts(entry["categories"])});
      }
    }
  }
}

void Discovered::add_resource_list(std::string_view group, std::string_view version, const Json& list) {
  for (const Json& entry : list["resources"].items()) {
    std::string name(entry["name"].string_or(""));
    if (name.contains('/')) continue;  // a subresource
    add({.group = std::string(group),
         .version = std::string(version),
         .kind = std::string(entry["kind"].string_or("")),
         .plural = std::move(name),
         .singular = std::string(entry["singularName"].string_or("")),
         .namespaced = entry["namespaced"].bool_or(false),
         .short_names = texts(entry["shortNames"]),
         .verbs = texts(entry["verbs"]),
         .categories = texts(entry["categories"])});
  }
}

const object::Resource* Discovered::find(std::string_view group, std::string_view version,
                                         std::string_view kind) const {
  auto found = by_kind_.find(joined(group, version, kind));
  return found == by_kind_.end() ? nullptr : &resources_[found->second];
}

const object::Resource* Discovered::find(std::string_view group, std::string_view kind) const {
  auto found = std::ranges::find_if(resources_, [&](const auto& r) { return r.group == group && r.kind == kind; });
  return found == resources_.end() ? nullptr : &*found;
}

const object::Resource* Discovered::find_by_name(std::string_view text) const {
  size_t dot = text.find('.');
  std::string name = lower(text.substr(0, dot));
  std::string_view rest = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
  auto fits = [&](const object::Resource& resource) {
    if (!goes_by(resource, name)) return false;
    if (rest.empty() || rest == resource.group) return true;
    if (resource.group.empty()) return rest == resource.version || rest == resource.version + ".";
    return rest == resource.version + "." + resource.group;
  };
  auto found = std::ranges::find_if(resources_, fits);
  return found == resources_.end() ? nullptr : &*found;
}

Error Discovered::missing(std::string_view group, std::string_view version, std::string_view kind) const {
  std::string where = group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
  Error error(ErrorKind::not_found, fmt::format("the cluster does not serve kind {} in {}", kind, where));
  for (const GroupProblem& problem : problems_) {
    if (problem.group != group || problem.version != version) continue;
    return std::move(error)
        .because(Error(ErrorKind::unavailable, problem.why))
        .next(fmt::format("kubectl describe apiservice {}.{}", version, group));
  }
  if (const object::Resource* other = find(group, kind))
    return std::move(error)
        .because(Error(ErrorKind::not_found, fmt::format("it serves it in {}", other->api_version())))
        .next(fmt::format("change its apiVersion to {}", other->api_version()));
  bool has_group = std::ranges::any_of(resources_, [&](const auto& r) { return r.group == group; });
  if (has_group) return error;
  return std::move(error).because(Error(ErrorKind::not_found, fmt::format("it serves nothing of group {}", group)));
}

}  // namespace fairlead::kube
