// Makes a plan, and shows it: for `plan`, `diff`, `apply --confirm` and `apply --plan`.
#pragma once

#include "cli/core/connect.h"
#include "cli/runs/plan_file.h"
#include "report/plan_progress.h"
#include "report/plan_report.h"
#include "rollout/rollout.h"

namespace fairlead::cli {

// Returns where a run with these options works, for people.
report::PlanPlace place_of(const Cluster& cluster, const rollout::Options& options);

// Finds out what a rollout with these options would do. Stores nothing.
Task<rollout::Ending> make_plan(Cluster& cluster, manifest::Bundle bundle, rollout::Options options,
                                journal::Journal& journal, CancelSource* stop);

// Shows the plan and asks the user, unless it has no changes or `yes` was given. After a yes, makes the plan again: a
// cluster that has changed since is an error. Returns true if the rollout may begin, or the exit code.
Task<std::expected<bool, int>> confirm_plan(Cluster& cluster, manifest::Bundle bundle, rollout::Options options,
                                            journal::Journal& journal, bool yes, CancelSource* stop);

// Makes the plan of the file again. Fails if anything has changed since.
Task<Result<void>> check_plan(Cluster& cluster, const PlanFile& file, manifest::Bundle bundle, rollout::Options options,
                              journal::Journal& journal, CancelSource* stop);

}  // namespace fairlead::cli
