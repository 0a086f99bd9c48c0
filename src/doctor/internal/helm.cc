#include "doctor/internal/helm.h"

#include <algorithm>

#include "base/timestamp.h"
#include "doctor/checks.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

// A helm that is still running may take this long.
constexpr Duration kHelmTakes = std::chrono::minutes(15);

// A revision that another one follows is done with, although `helm rollback` leaves its record pending.
void add_pending(const Snapshot& snapshot, std::string_view kind, std::vector<PendingRelease>& pending) {
  std::vector<kube::HelmRelease> releases;
  for (const Json& record : snapshot.all(kind))
    if (std::optional<kube::HelmRelease> release = kube::read_helm_release(record)) releases.push_back(*release);
  std::vector<kube::HelmRelease> newest = kube::newest_revisions(std::move(releases));
  for (const Json& record : snapshot.all(kind)) {
    std::optional<kube::HelmRelease> release = kube::read_helm_release(record);
    if (!release || !release->is_pending() || std::ranges::find(newest, *release) == newest.end()) continue;
    std::optional<WallTime> created = parse_timestamp(record["metadata"]["creationTimestamp"].string_or(""));
    if (created && *created + kHelmTakes > snapshot.now) continue;
    pending.push_back({.record = key_of(record), .release = *std::move(release)});
  }
}

}  // namespace

std::vector<PendingRelease> pending_releases(const Snapshot& snapshot) {
  std::vector<PendingRelease> pending;
  for (std::string_view kind : {"Secret", "ConfigMap"}) add_pending(snapshot, kind, pending);
  return pending;
}

void check_helm(const Snapshot& snapshot, Findings& findings) {
  for (const auto& [record, release] : pending_releases(snapshot))
    findings.push_back({.code = "helm-release-pending",
                        .severity = Severity::warning,
                        .object = record,
                        .what = fmt::format("Helm release {}/{} is {}", release.ns, release.name, release.status),
                        .causes = {"the helm that was working on it was stopped, or could not write its result"},
                        .blocks = "the next install or upgrade of the release",
                        .next = release.repair()});
}

}  // namespace fairlead::doctor
