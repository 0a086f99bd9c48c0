#include "doctor/internal/subject.h"

#include <algorithm>

namespace fairlead::doctor {

void check_subject(const Snapshot& snapshot, const Json& object, Findings& findings) {
  object::Key key = key_of(object);
  auto is_told = [&](const Finding& finding) {
    bool is_about = finding.object == key || std::ranges::find(finding.related, key) != finding.related.end();
    return is_about && finding.severity != Severity::info;
  };
  if (std::ranges::any_of(findings, is_told)) return;
  if (std::optional<Finding> stuck = stuck_deletion(snapshot, object)) findings.push_back(*std::move(stuck));
  else check_readiness(snapshot, object, findings);
}

}  // namespace fairlead::doctor
