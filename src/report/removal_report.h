// Shows `fairlead delete`: one line per event during the run, and the results at the end.
#pragma once

#include "removal/removal.h"
#include "report/output.h"

namespace fairlead::report {

class RemovalReport {
 public:
  RemovalReport(Output output, removal::DryRun dry_run) : output_(output), dry_run_(dry_run) {}

  // Call it for every event of the journal.
  void read(const journal::Event& event) const;
  void finish(const removal::Ending& ending) const;

 private:
  Output output_;
  removal::DryRun dry_run_;
};

}  // namespace fairlead::report
