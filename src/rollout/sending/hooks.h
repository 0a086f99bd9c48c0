// Runs and deletes Helm hooks in a rollout. Hooks are recreated in every run, or deleted, as their hook-delete-policy
// says. Objects that are not ours are never deleted.
#pragma once

#include "graph/hooks.h"
#include "rollout/core/run.h"

namespace fairlead::rollout {

// Returns nothing if the object is not a hook, or is not part of this run.
std::optional<graph::Hook> hook_of(const Run& run, NodeId node);

// True if the object is a hook that is deleted and created again, instead of being changed. Never true for CRDs and
// Namespaces: what they contain would be deleted with them.
bool may_be_made_anew(const Run& run, NodeId node);
// True if the hook is deleted and created again in every run. That is so for Jobs and Pods with the policy
// before-hook-creation, since the result of the one that an earlier run created says nothing about this run, and for
// other kinds if their annotation names that policy.
bool runs_anew(const Run& run, NodeId node);

// Returns the object of that name that an earlier run of this bundle created; null if there is none, or if it is not
// ours. A Failure is final.
Task<kube::Outcome<Json>> find_former(kube::Client& client, Run& run, NodeId node);
// Deletes exactly the object `former` and waits until it is deleted.
Task<kube::Outcome<void>> delete_former(kube::Client& client, Run& run, NodeId node, Json former);

// Deletes the hooks to which the policies hook-succeeded and hook-failed apply. Call at the end of a run. Jobs and Pods
// are deleted if they have ended. Other hooks, such as a ServiceAccount, may be needed by other objects of the bundle,
// and are only deleted if the run was `complete`.
Task<void> delete_ended_hooks(kube::Client& client, Run& run, bool complete);

}  // namespace fairlead::rollout
