// What a rollout and its plan begin with.
#pragma once

#include <expected>
#include <memory>

#include "cli/core/connect.h"
#include "cli/runs/rollout_flags.h"

namespace fairlead::cli {

struct OpenRollout {
  // Without what --only and --skip leave out.
  manifest::Bundle bundle;
  std::unique_ptr<Cluster> cluster;
};

// Reads the manifests, connects to the cluster, and puts its namespace into the options. Reports what fails, and then
// returns the exit code. The journal must outlive the result.
Task<std::expected<OpenRollout, int>> open_rollout(RealLoop& loop, const Invocation& invocation,
                                                   const RolloutFlags& flags, rollout::Options& options,
                                                   journal::Journal& journal, CancelSource& stop);

}  // namespace fairlead::cli
