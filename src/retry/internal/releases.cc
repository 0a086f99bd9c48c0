#include "retry/internal/releases.h"

#include <algorithm>

#include "object/resource.h"

namespace fairlead::retry {
namespace {

// Where Helm keeps its records: Secrets, or ConfigMaps with HELM_DRIVER=configmap.
const object::Resource kRecords[] = {
    {.group = "", .version = "v1", .kind = "Secret", .plural = "secrets", .namespaced = true},
    {.group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .namespaced = true}};

// True if a word of the command is the value, alone or behind "=".
bool names(const std::vector<std::string>& command, const std::string& value) {
  return std::ranges::any_of(command,
                             [&](const std::string& word) { return word == value || word.ends_with("=" + value); });
}

}  // namespace

Task<std::vector<kube::HelmRelease>> read_releases(const Cluster& cluster) {
  std::vector<kube::HelmRelease> releases;
  for (const object::Resource& records : kRecords) {
    // Whoever may not list those of all namespaces may be allowed to list those of their own.
    for (const std::string& ns : {std::string(), cluster.default_namespace}) {
      auto found = co_await cluster.client->list(
          records, {.ns = ns, .label_selector = std::string(kube::kHelmReleases), .metadata_only = true});
      if (!found) continue;
      for (const Json& record : found->items)
        if (std::optional<kube::HelmRelease> release = kube::read_helm_release(record))
          releases.push_back(*std::move(release));
      break;
    }
  }
  co_return kube::newest_revisions(std::move(releases));
}

std::optional<kube::HelmRelease> find_release(const std::vector<kube::HelmRelease>& releases, const Search& search,
                                              const std::function<bool(const kube::HelmRelease&)>& could_be_it) {
  std::vector<const kube::HelmRelease*> candidates;
  for (const kube::HelmRelease& release : releases)
    if (could_be_it(release)) candidates.push_back(&release);
  auto keep_if_any = [&](auto is_wanted) {
    std::vector<const kube::HelmRelease*> kept;
    std::ranges::copy_if(candidates, std::back_inserter(kept), is_wanted);
    if (!kept.empty()) candidates = std::move(kept);
  };
  keep_if_any([&](const kube::HelmRelease* one) { return names(search.command, one->name); });
  keep_if_any([&](const kube::HelmRelease* one) { return names(search.command, one->ns); });
  keep_if_any([&](const kube::HelmRelease* one) { return one->ns == search.default_namespace; });
  if (candidates.size() != 1) return std::nullopt;
  return *candidates.front();
}

}  // namespace fairlead::retry
