// Going back to an earlier revision of a bundle.
#pragma once

#include <string>

#include "cli/core/connect.h"
#include "history/history.h"
#include "manifest/manifest.h"
#include "report/rollout_report.h"

namespace fairlead::cli {

// The manifests of a revision, ready to be applied.
struct Former {
  history::Revision revision;
  manifest::Bundle bundle;
};

// Reads the revision of that number of a bundle; for zero, the last one that was done and applied something else.
// Warnings go to the journal.
Task<Result<Former>> read_former(Cluster& cluster, journal::Journal& journal, std::string name, int64_t number,
                                 history::OtherValues other);

// Goes back to the newest revision that was done, if the run failed after it had changed something. Says so if there is
// none. `options` and `settings` are those of the run.
Task<void> go_back_after_failure(Cluster& cluster, rollout::Options options, const rollout::Ending& failed,
                                 report::Settings settings, CancelSource* stop);

}  // namespace fairlead::cli
