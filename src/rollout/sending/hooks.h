// Runs and deletes Helm hooks in a rollout. Jobs and Pods with the policy before-hook-creation are recreated in every
// run, and hooks are deleted when their hook-delete-policy says so. Objects that are not ours are never deleted.
#pragma once

#include "graph/hooks.h"
#include "rollout/core/run.h"

namespace fairlead::rollout {

// Returns nothing if the object is not a hook, or is not part of this run.
std::optional<graph::Hook> hook_of(const Run& run, NodeId node);

// True for a Job or Pod that is a hook with the policy before-hook-creation. The result of the one that an earlier run
// created says nothing about this run.
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
