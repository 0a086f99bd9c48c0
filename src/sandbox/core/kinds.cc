#include "sandbox/core/kinds.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <tuple>

namespace fairlead::sandbox {
namespace {

// Major version, then stable over beta over alpha, then the minor one; what is no version at all comes last.
std::tuple<int, int, int> rank(std::string_view version) {
  if (version.size() < 2 || version[0] != 'v') return {0, 0, 0};
  int major = 0, minor = 0;
  const char* end = version.data() + version.size();
  auto [rest, error] = std::from_chars(version.data() + 1, end, major);
  if (error != std::errc()) return {0, 0, 0};
  if (rest == end) return {3, major, 0};
  std::string_view tail(rest, size_t(end - rest));
  int stability = tail.starts_with("beta") ? 2 : tail.starts_with("alpha") ? 1 : 0;
  if (stability == 0) return {0, 0, 0};
  std::from_chars(rest + (stability == 2 ? 4 : 5), end, minor);
  return {stability, major, minor};
}

// By the priority of their APIServices.
constexpr std::array<std::string_view, 22> kGroupOrder = {"",
                                                          "apiregistration.k8s.io",
                                                          "apps",
                                                          "events.k8s.io",
                                                          "authentication.k8s.io",
                                                          "authorization.k8s.io",
                                                          "autoscaling",
                                                          "batch",
                                                          "certificates.k8s.io",
                                                          "networking.k8s.io",
                                                          "policy",
                                                          "rbac.authorization.k8s.io",
                                                          "storage.k8s.io",
                                                          "admissionregistration.k8s.io",
                                                          "apiextensions.k8s.io",
                                                          "scheduling.k8s.io",
                                                          "coordination.k8s.io",
                                                          "node.k8s.io",
                                                          "discovery.k8s.io",
                                                          "resource.k8s.io",
                                                          "flowcontrol.apiserver.k8s.io",
                                                          "storagemigration.k8s.io"};

// Read once for all sandboxes of the process.
const std::vector<Kind>& builtin_kinds() {
  static const std::vector<Kind> kKinds = [] {
    std::vector<Kind> kinds;
    for (schema::Resource& resource : schema::builtin_resources()) {
      if (size_t slash = resource.name.find('/'); slash != std::string::npos) {
        std::string owner = resource.name.substr(0, slash);
        auto of = std::find_if(kinds.rbegin(), kinds.rend(), [&](const Kind& kind) {
          return kind.group == resource.group && kind.version == resource.version && kind.resource == owner;
        });
        if (of == kinds.rend()) continue;
        of->subresources.push_back({resource.name.substr(slash + 1), resource.kind_group, resource.kind_version,
                                    resource.kind, std::move(resource.verbs)});
        continue;
      }
      Kind kind;
      kind.group = resource.group;
      kind.version = kind.storage_version = resource.version;
      kind.resource = resource.name;
      kind.singular = resource.singular;
      kind.kind = resource.kind;
      kind.list_kind = resource.kind + "List";
      kind.namespaced = resource.namespaced;
      kind.verbs = std::move(resource.verbs);
      kind.short_names = std::move(resource.short_names);
      kind.categories = std::move(resource.categories);
      kind.storage_version_hash = std::move(resource.storage_version_hash);
      kind.columns = std::move(resource.columns);
      kind.stored_as = kind.id();
      if (kind.group == "events.k8s.io") kind.stored_as = {"", "events"};
      kinds.push_back(std::move(kind));
    }
    auto place = [](const Kind& kind) { return std::find(kGroupOrder.begin(), kGroupOrder.end(), kind.group); };
    std::sort(kinds.begin(), kinds.end(), [&](const Kind& a, const Kind& b) {
      if (a.group != b.group) return place(a) < place(b);
      if (a.version != b.version) return version_comes_first(a.version, b.version);
      return a.resource < b.resource;
    });
    for (Kind& kind : kinds)
      if (kind.group == "autoscaling") kind.storage_version = "v2";
    return kinds;
  }();
  return kKinds;
}

}  // namespace

bool version_comes_first(std::string_view a, std::string_view b) {
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return a < b;
}

const Subresource* Kind::find_subresource(std::string_view wanted) const {
  for (const Subresource& one : subresources)
    if (one.name == wanted) return &one;
  return nullptr;
}

bool Kind::allows(std::string_view verb) const { return std::find(verbs.begin(), verbs.end(), verb) != verbs.end(); }

schema::SchemaPtr Kind::builtin_schema() const {
  static std::map<std::pair<std::string, std::string>, schema::SchemaPtr> kept;
  schema::SchemaPtr& found = kept[{api_version(), kind}];
  if (!found) found = schema::builtin_schema(group, version, kind);
  return found;
}

const Kind* Kinds::find(std::string_view group, std::string_view version, std::string_view resource) const {
  for (const Kind& kind : builtin_kinds())
    if (kind.resource == resource && kind.group == group && kind.version == version) return &kind;
  auto found = custom_.find({std::string(group), std::string(resource)});
  if (found == custom_.end()) return nullptr;
  for (const Kind& kind : found->second)
    if (kind.version == version) return &kind;
  return nullptr;
}

const Kind* Kinds::by_kind(std::string_view group, std::string_view version, std::string_view wanted) const {
  for (const Kind& kind : builtin_kinds())
    if (kind.kind == wanted && kind.group == group && (version.empty() || kind.version == version)) return &kind;
  for (const auto& [id, versions] : custom_)
    for (const Kind& kind : versions)
      if (kind.kind == wanted && kind.group == group && (version.empty() || kind.version == version)) return &kind;
  return nullptr;
}

const Kind* Kinds::preferred(std::string_view group, std::string_view resource) const {
  for (const Kind& kind : builtin_kinds())
    if (kind.resource == resource && kind.group == group) return &kind;
  auto found = custom_.find({std::string(group), std::string(resource)});
  return found == custom_.end() || found->second.empty() ? nullptr : &found->second.front();
}

bool Kinds::is_builtin_group(std::string_view group) {
  const std::vector<Kind>& kinds = builtin_kinds();
  return std::any_of(kinds.begin(), kinds.end(), [&](const Kind& kind) { return kind.group == group; });
}

bool Kinds::has_version(std::string_view group, std::string_view version) const {
  std::vector<const Kind*> kinds = in_order();
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const Kind* kind) { return kind->group == group && kind->version == version; });
}

std::vector<const Kind*> Kinds::in_order() const {
  std::vector<const Kind*> kinds;
  for (const Kind& kind : builtin_kinds()) kinds.push_back(&kind);
  std::vector<const Kind*> custom;
  for (const auto& [id, versions] : custom_)
    for (const Kind& kind : versions) custom.push_back(&kind);
  std::sort(custom.begin(), custom.end(), [](const Kind* a, const Kind* b) {
    if (a->group != b->group) return a->group < b->group;
    if (a->version != b->version) return version_comes_first(a->version, b->version);
    return a->resource < b->resource;
  });
  kinds.insert(kinds.end(), custom.begin(), custom.end());
  return kinds;
}

std::vector<const Kind*> Kinds::each_resource() const {
  std::vector<const Kind*> kinds;
  std::set<ResourceId> seen;
  for (const Kind* kind : in_order())
    if (seen.insert(kind->stored_as).second) kinds.push_back(kind);
  return kinds;
}

void Kinds::set_custom(const ResourceId& resource, std::vector<Kind> versions, uint64_t now) {
  if (versions.empty()) {
    custom_.erase(resource);
    return;
  }
  std::sort(versions.begin(), versions.end(),
            [](const Kind& a, const Kind& b) { return version_comes_first(a.version, b.version); });
  auto known = custom_.find(resource);
  for (Kind& kind : versions) kind.served_from = known == custom_.end() ? now : known->second.front().served_from;
  custom_[resource] = std::move(versions);
}

}  // namespace fairlead::sandbox
