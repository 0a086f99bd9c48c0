// The checks: each finds one kind of trouble in a snapshot. All are pure.
//
// A check says nothing where it cannot know: an object is missing only if every object of its kind was read.
#pragma once

#include <vector>

#include "doctor/finding.h"
#include "doctor/snapshot.h"

namespace fairlead::doctor {

using Findings = std::vector<Finding>;

// Webhooks that cannot be called (internal/webhook_calls.cc).
void check_webhook_calls(const Snapshot& snapshot, Findings& findings);
// Webhooks whose rules or selectors match too little or too much (internal/webhook_rules.cc).
void check_webhook_rules(const Snapshot& snapshot, Findings& findings);
// Webhooks that would not survive the loss of a pod, or that a NetworkPolicy hides (internal/webhook_backends.cc).
void check_webhook_backends(const Snapshot& snapshot, Findings& findings);
// The caBundles of webhooks, conversions and APIServices (internal/ca_bundles.cc).
void check_ca_bundles(const Snapshot& snapshot, Findings& findings);
// The certificates that they serve with (internal/certificates.cc).
void check_certificates(const Snapshot& snapshot, Findings& findings);
// Workloads, pods and Jobs (internal/workloads.cc).
void check_workloads(const Snapshot& snapshot, Findings& findings);
void check_jobs(const Snapshot& snapshot, Findings& findings);
void check_services(const Snapshot& snapshot, Findings& findings);

// CRDs, conversion webhooks and APIServices (internal/definitions.cc).
void check_definitions(const Snapshot& snapshot, Findings& findings);
// Deletions that do not end (internal/deletions.cc).
void check_deletions(const Snapshot& snapshot, Findings& findings);
// Admission policies and their bindings (internal/policies.cc).
void check_policies(const Snapshot& snapshot, Findings& findings);
// Helm releases that are pending (internal/helm.cc).
void check_helm(const Snapshot& snapshot, Findings& findings);
// Bindings that grant nothing, and ServiceAccounts that are missing (internal/access.cc).
void check_access(const Snapshot& snapshot, Findings& findings);
// What Warning Events tell: rights that are missing, objects that webhooks refused (internal/warnings.cc).
void check_warnings(const Snapshot& snapshot, Findings& findings);
// A gate that does not answer, or of which only its configurations are left (internal/gate.cc).
void check_gate(const Snapshot& snapshot, Findings& findings);
// Bundles whose inventory and objects disagree (internal/bundles.cc).
void check_bundles(const Snapshot& snapshot, Findings& findings);
// What the API server has counted (internal/calls_made.cc).
void check_calls_made(const Snapshot& snapshot, Findings& findings);

// Manifests in versions of APIs that are removed or will be (internal/deprecated.cc). Not part of check_all(): it is
// about objects that need not be in the cluster. `sources` says where each of them is written, as file:line.
void check_versions(const Snapshot& snapshot, const std::vector<Json>& bundle, const std::vector<std::string>& sources,
                    Findings& findings);

// An object of the cluster that somebody asked about, of any kind: a deletion that does not end, an object that is not
// ready. Adds nothing if there is a finding about it already (internal/subject.cc). Not part of check_all().
void check_subject(const Snapshot& snapshot, const Json& object, Findings& findings);

// Sorts findings: the most severe first, then by code and object.
void sort(Findings& findings);

// Runs every check. A trouble that another finding names as its cause is left out. Sorted.
Findings check_all(const Snapshot& snapshot);

}  // namespace fairlead::doctor
