#include "kube/helm_release.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

namespace fairlead::kube {
namespace {

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string HelmRelease::repair() const {
  if (status == "pending-install") return fmt::format("helm -n {} uninstall {}, and install it again", ns, name);
  if (is_pending()) return fmt::format("helm -n {} rollback {}", ns, name);
  return fmt::format("helm -n {0} upgrade --install {1} instead of helm install; or helm -n {0} uninstall {1} first",
                     ns, name);
}

std::optional<HelmRelease> read_helm_release(const Json& record) {
  const Json& metadata = record["metadata"];
  const Json& labels = metadata["labels"];
  if (labels["owner"].string_or("") != "helm") return std::nullopt;
  HelmRelease release{.ns = std::string(metadata["namespace"].string_or("")),
                      .name = std::string(labels["name"].string_or("")),
                      .status = std::string(labels["status"].string_or("")),
                      .revision = number_in(labels["version"].string_or("")).value_or(0),
                      .modified = {}};
  if (release.name.empty() || release.status.empty()) return std::nullopt;
  // A record that was never changed has the other label alone.
  for (std::string_view label : {"createdAt", "modifiedAt"})
    if (std::optional<int64_t> seconds = number_in(labels[label].string_or("")))
      release.modified = WallTime(std::chrono::seconds(*seconds));
  return release;
}

std::vector<HelmRelease> newest_revisions(std::vector<HelmRelease> releases) {
  std::ranges::sort(releases, {}, [](const HelmRelease& one) { return std::tie(one.ns, one.name, one.revision); });
  std::vector<HelmRelease> newest;
  for (HelmRelease& release : releases) {
    bool is_same = !newest.empty() && newest.back().ns == release.ns && newest.back().name == release.name;
    if (is_same) newest.back() = std::move(release);
    else newest.push_back(std::move(release));
  }
  return newest;
}

}  // namespace fairlead::kube
