// Releases of Helm, as Helm records them in the cluster: one Secret per revision, or one ConfigMap. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace fairlead::kube {

// Selects the records of releases; only those that are in the middle of something; and only the others.
inline constexpr std::string_view kHelmReleases = "owner=helm";
inline constexpr std::string_view kPendingHelmReleases =
    "owner=helm,status in (pending-install,pending-upgrade,pending-rollback)";
inline constexpr std::string_view kEndedHelmReleases =
    "owner=helm,status notin (pending-install,pending-upgrade,pending-rollback)";

struct HelmRelease {
  std::string ns;
  std::string name;
  // As Helm writes it: "deployed", "failed", "pending-install".
  std::string status;
  int64_t revision = 0;
  // When Helm wrote the record, by its own clock.
  std::optional<WallTime> modified;

  bool is_pending() const { return status.starts_with("pending-"); }
  // What makes a pending or failed release usable again.
  std::string repair() const;
  bool operator==(const HelmRelease&) const = default;
};

// Nothing if it is not the record of a release. Its data is not looked at.
std::optional<HelmRelease> read_helm_release(const Json& record);

// Only the newest revision of each release, sorted by namespace and name.
std::vector<HelmRelease> newest_revisions(std::vector<HelmRelease> releases);

}  // namespace fairlead::kube
