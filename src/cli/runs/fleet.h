// Runs that change several clusters: `--contexts` on `apply` and `delete`.
//
// One process has a run per cluster, several of them at a time. Each has a journal of its own; all their events go to
// the journal of the command as well, with the context. Lines begin with the context, and the end is a line per
// cluster.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "async/real_loop.h"
#include "async/task.h"
#include "cli/core/connect.h"
#include "cli/core/flags.h"
#include "cli/core/globals.h"
#include "journal/journal.h"
#include "journal/outcome.h"
#include "report/display.h"

namespace fairlead::cli {

struct FleetFlags {
  // As --contexts has it: names with commas between them, or "all". Empty if there is one cluster.
  std::string contexts;
  uint64_t at_once = 10;
  std::string stop_on = "failure";

  bool is_given() const { return !contexts.empty(); }
};

// Adds --contexts, --max-clusters-at-once and --stop-on.
void add_fleet_flags(Command command, FleetFlags& flags);

// Returns the error of a flag that is about one cluster.
Error not_in_a_fleet(std::string_view flag);

// What became of the run in one cluster.
struct ClusterEnding {
  journal::Outcome how = journal::Outcome::done;
  // For people: "3 created". Empty if nothing was begun in the cluster.
  std::string totals;
  // Why nothing was begun, unless that was reported already.
  std::optional<Error> error = {};
};

// The run in one cluster: its global flags and the kubeconfig of all clusters, how it shows itself, and its journal.
struct ClusterRun {
  Globals globals;
  const kube::Kubeconfig& kubeconfig;
  report::Settings settings;
  journal::Journal& journal;
};
using RunInCluster = std::function<Task<ClusterEnding>(ClusterRun run)>;

// The runs in these contexts.
struct Fleet {
  std::vector<std::string> contexts;
  FleetFlags flags;
  Globals globals;
  // Read once: there can be hundreds of contexts in it.
  kube::Kubeconfig kubeconfig;
  report::Settings settings;
};

// Returns the runs in the contexts that the flags name, one per context. Fails if the kubeconfig does not have one of
// them, or fairlead.yaml does not allow it, or a global flag names a cluster as well.
Result<Fleet> read_fleet(const FleetFlags& flags, const Globals& globals, const report::Settings& settings);

// Runs in each cluster and shows how it ended. No further run begins after one has failed if --stop-on says so, or once
// `stop` is cancelled. Returns the exit code: that of the runs which failed if it is the same for all of them.
Task<int> run_fleet(RealLoop& loop, Fleet fleet, journal::Journal& journal, RunInCluster run, CancelSource& stop);

}  // namespace fairlead::cli
