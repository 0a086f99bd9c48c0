// Hooks of Helm in a rollout: those that run to their end are made anew in every run, and what their
// hook-delete-policy says is deleted. Nothing is deleted that is not ours.
#pragma once

#include "graph/hooks.h"
#include "rollout/run.h"

namespace fairlead::rollout {

// Nothing for what is no hook, or not part of this run.
std::optional<graph::Hook> hook_of(const Run& run, uint32_t node);

// A Job or Pod that is a hook with the policy before-hook-creation: one that an earlier run has made says nothing
// about this one.
bool runs_anew(const Run& run, uint32_t node);

// The object of that name that an earlier run of this bundle has made; null if there is none, or it is not ours. A
// Failure is final.
Task<kube::Outcome<Json>> find_former(Run& run, uint32_t node);
// Deletes exactly that one and waits until it is gone.
Task<kube::Outcome<void>> delete_former(Run& run, uint32_t node, Json former);

// The end of a run: deletes what hook-succeeded and hook-failed are about. What runs is deleted when it has ended;
// what others of the bundle may need, such as its ServiceAccount, only after a run that did all of it.
Task<void> delete_ended_hooks(Run& run, bool complete);

}  // namespace fairlead::rollout
