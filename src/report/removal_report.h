// What is shown of `fairlead delete`: a line an event while it runs, and what came of it at the end.
#pragma once

#include "removal/removal.h"
#include "report/output.h"

namespace fairlead::report {

class RemovalReport {
 public:
  RemovalReport(Output output, removal::DryRun dry_run) : output_(output), dry_run_(dry_run) {}

  // A reader of the journal.
  void read(const journal::Event& event) const;
  void finish(const removal::Ending& ending) const;

 private:
  Output output_;
  removal::DryRun dry_run_;
};

}  // namespace fairlead::report
