#include "doctor/finding.h"

#include <algorithm>
#include <array>

#include "base/nearest.h"

namespace fairlead::doctor {
namespace {

constexpr auto kCodes = std::to_array<std::string_view>({
    "access-denied",
    "apiservice-unavailable",
    "binding-account-missing",
    "binding-role-missing",
    "bundle-inventory-missing",
    "bundle-label-differs",
    "bundle-members-missing",
    "bundle-not-covered",
    "ca-bundle-differs",
    "ca-bundle-empty",
    "ca-bundle-expired",
    "ca-bundle-expiring",
    "ca-bundle-invalid",
    "ca-injection-missing",
    "certificate-expired",
    "certificate-expiring",
    "certificate-key-mismatch",
    "certificate-not-yet-valid",
    "certificate-untrusted",
    "certificate-wrong-name",
    "conversion-dead",
    "crd-names-conflict",
    "crd-not-established",
    "crd-stored-version-gone",
    "crd-stored-version-unserved",
    "deletion-stuck",
    "deprecated-api-in-manifests",
    "deprecated-api-used",
    "gate-left-behind",
    "gate-not-answering",
    "helm-release-pending",
    "job-failed",
    "job-stuck",
    "object-not-ready",
    "pod-not-ready",
    "policy-missing",
    "policy-param-kind-missing",
    "policy-param-missing",
    "policy-type-errors",
    "policy-unbound",
    "service-selects-nothing",
    "webhook-calls-failed",
    "webhook-condition-errors",
    "webhook-critical",
    "webhook-failed-open",
    "webhook-guards-itself",
    "webhook-matches-no-namespace",
    "webhook-matches-nothing",
    "webhook-namespaces-exempt",
    "webhook-network-policy",
    "webhook-no-budget",
    "webhook-no-dry-run",
    "webhook-no-endpoints",
    "webhook-none",
    "webhook-orphaned",
    "webhook-port-missing",
    "webhook-refused-objects",
    "webhook-service-missing",
    "webhook-single-replica",
    "webhook-skipped",
    "webhook-skips-object",
    "webhook-slow",
    "workload-account-missing",
    "workload-not-ready",
});
static_assert(std::ranges::is_sorted(kCodes));

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::info: return "info";
    case Severity::warning: return "warning";
    case Severity::error: break;
  }
  return "error";
}

std::optional<Severity> severity_named(std::string_view name) {
  for (Severity one : {Severity::info, Severity::warning, Severity::error})
    if (name_of(one) == name) return one;
  return std::nullopt;
}

std::span<const std::string_view> codes() { return kCodes; }

Result<void> check_code(std::string_view code) {
  if (std::ranges::binary_search(kCodes, code)) return {};
  Error error(ErrorKind::invalid, fmt::format("there is no finding with the code \"{}\"", code));
  std::optional<std::string> near = nearest(code, std::vector<std::string>(kCodes.begin(), kCodes.end()));
  if (!near) return fail(std::move(error).next("docs/doctor.md lists the codes"));
  return fail(std::move(error).next(fmt::format("did you mean {}?", *near)));
}

}  // namespace fairlead::doctor
