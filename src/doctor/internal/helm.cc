// Helm releases that were left in the middle of something.
#include "base/timestamp.h"
#include "doctor/checks.h"
#include "doctor/internal/texts.h"
#include "kube/helm_release.h"

namespace fairlead::doctor {
namespace {

// A helm that is still running may take this long.
constexpr Duration kHelmTakes = std::chrono::minutes(15);

}  // namespace

void check_helm(const Snapshot& snapshot, Findings& findings) {
  for (const Json& secret : snapshot.all("Secret")) {
    std::optional<kube::HelmRelease> release = kube::read_helm_release(secret);
    if (!release || !release->is_pending()) continue;
    std::optional<WallTime> created = parse_timestamp(secret["metadata"]["creationTimestamp"].string_or(""));
    if (created && *created + kHelmTakes > snapshot.now) continue;
    findings.push_back({.code = "helm-release-pending",
                        .severity = Severity::warning,
                        .object = key_of(secret),
                        .what = fmt::format("Helm release {}/{} is {}", release->ns, release->name, release->status),
                        .causes = {"the helm that was working on it was stopped, or could not write its result"},
                        .blocks = "the next install or upgrade of the release",
                        .next = release->repair()});
  }
}

}  // namespace fairlead::doctor
