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

// Reads the manifests, and leaves out what --only and --skip say. Reports what fails, and then returns the exit code.
Task<std::expected<manifest::Bundle, int>> read_rollout(RealLoop& loop, const Invocation& invocation,
                                                        const RolloutFlags& flags, const rollout::Options& options,
                                                        CancelSource& stop);

// Connects to the cluster, and puts its namespace into the options. The journal must outlive the result.
Result<OpenRollout> connect_rollout(RealLoop& loop, const Globals& globals, const kube::Kubeconfig& kubeconfig,
                                    manifest::Bundle bundle, rollout::Options& options, journal::Journal& journal);

// Reads the manifests and connects to the cluster. Reports what fails, and then returns the exit code. The journal must
// outlive the result.
Task<std::expected<OpenRollout, int>> open_rollout(RealLoop& loop, const Invocation& invocation,
                                                   const RolloutFlags& flags, rollout::Options& options,
                                                   journal::Journal& journal, CancelSource& stop);

}  // namespace fairlead::cli
