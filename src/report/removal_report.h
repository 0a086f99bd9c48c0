// What is shown of `fairlead delete`: a line an event while it runs, and what came of it at the end.
#pragma once

#include "removal/removal.h"
#include "report/screen.h"

namespace fairlead::report {

class RemovalReport {
 public:
  RemovalReport(Screen screen, removal::DryRun dry_run) : screen_(screen), dry_run_(dry_run) {}

  // A reader of the journal.
  void read(const journal::Event& event) const;
  void finish(const removal::Ending& ending) const;

 private:
  Screen screen_;
  removal::DryRun dry_run_;
};

}  // namespace fairlead::report
