// Shows `fairlead delete`: what happens during the run, and the results at the end.
#pragma once

#include "removal/removal.h"
#include "report/display.h"
#include "report/github.h"
#include "report/output.h"

namespace fairlead::report {

class RemovalReport {
 public:
  // What the references point to must outlive the report.
  RemovalReport(Loop& loop, const journal::Journal& journal, Settings settings, removal::DryRun dry_run);

  // Call it for every event of the journal.
  void read(const journal::Event& event);
  void finish(const removal::Ending& ending);
  Display& display() { return display_; }
  // What the report wants to know of the run: a live view shows what waits for what.
  journal::Detail detail() const {
    return display_.settings().progress == Progress::live ? journal::Detail::full : journal::Detail::usual;
  }

 private:
  Output output_;
  removal::DryRun dry_run_;
  Display display_;
  std::optional<Github> github_ = Github::from_environment();
};

// Returns what became of the objects: "7 deleted", "3 objects: 2 deleted, 1 failed (still there)".
std::string totals_text(const removal::Ending& ending);

}  // namespace fairlead::report
