#include "doctor/checks.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace fairlead::doctor {
namespace {

// Findings about these only repeat what a finding says that names the object as part of its own trouble.
bool is_told_elsewhere(const Finding& finding, const std::set<object::Key>& told) {
  constexpr std::string_view kCauses[] = {"job-stuck", "pod-not-ready", "service-selects-nothing",
                                          "workload-not-ready"};
  return std::ranges::find(kCauses, finding.code) != std::end(kCauses) && told.contains(finding.object);
}

// Outages name what is behind them; advice about a working webhook does not explain anything. A missing right may be
// one trouble of several.
bool explains(const Finding& finding) {
  return !finding.related.empty() && !finding.causes.empty() && finding.code != "access-denied";
}

}  // namespace

void sort(Findings& findings) {
  std::ranges::sort(findings, [](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return std::tie(a.code, a.object, a.what) < std::tie(b.code, b.object, b.what);
  });
}

Findings check_all(const Snapshot& snapshot) {
  Findings findings;
  for (auto check :
       {check_webhook_calls, check_webhook_rules, check_webhook_backends, check_ca_bundles, check_certificates,
        check_workloads, check_jobs, check_services, check_definitions, check_deletions, check_policies, check_helm,
        check_access, check_warnings, check_bundles, check_calls_made, check_gate})
    check(snapshot, findings);
  std::set<object::Key> told;
  for (const Finding& finding : findings)
    if (explains(finding)) told.insert(finding.related.begin(), finding.related.end());
  std::erase_if(findings, [&](const Finding& finding) { return is_told_elsewhere(finding, told); });
  sort(findings);
  return findings;
}

}  // namespace fairlead::doctor
