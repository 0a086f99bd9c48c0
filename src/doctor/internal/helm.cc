// Helm releases that were left in the middle of something.
#include "base/timestamp.h"
#include "doctor/checks.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

// A helm that is still running may take this long.
constexpr Duration kPatience = std::chrono::minutes(15);

std::string repair_of(std::string_view status, std::string_view ns, std::string_view release) {
  if (status == "pending-install") return fmt::format("helm -n {} uninstall {}, and install it again", ns, release);
  return fmt::format("helm -n {} rollback {}", ns, release);
}

}  // namespace

void check_helm(const Snapshot& snapshot, Findings& findings) {
  for (const Json& secret : snapshot.all("Secret")) {
    const Json& labels = secret["metadata"]["labels"];
    std::string_view status = labels["status"].string_or("");
    if (labels["owner"].string_or("") != "helm" || !status.starts_with("pending-")) continue;
    std::optional<WallTime> created = parse_timestamp(secret["metadata"]["creationTimestamp"].string_or(""));
    if (created && *created + kPatience > snapshot.now) continue;
    std::string_view release = labels["name"].string_or("");
    findings.push_back({.code = "helm-release-pending",
                        .severity = Severity::warning,
                        .object = key_of(secret),
                        .what = fmt::format("Helm release {}/{} is {}", namespace_of(secret), release, status),
                        .causes = {"the helm that was working on it was stopped, or could not write its result"},
                        .blocks = "the next install or upgrade of the release",
                        .next = repair_of(status, namespace_of(secret), release)});
  }
}

}  // namespace fairlead::doctor
