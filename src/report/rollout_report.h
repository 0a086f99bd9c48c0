// Shows `fairlead apply`: what happens during the run, and the results at the end.
#pragma once

#include "report/display.h"
#include "report/github.h"
#include "report/output.h"
#include "rollout/rollout.h"

namespace fairlead::report {

class RolloutReport {
 public:
  // What the references point to must outlive the report.
  RolloutReport(Loop& loop, const journal::Journal& journal, Settings settings, bool dry_run);

  // Call it for every event of the journal.
  void read(const journal::Event& event);
  void finish(const rollout::Ending& ending);
  Display& display() { return display_; }
  // What the report wants to know of the run: a live view shows what waits for what.
  journal::Detail detail() const {
    return display_.settings().progress == Progress::live ? journal::Detail::full : journal::Detail::usual;
  }

 private:
  Output output_;
  bool dry_run_;
  Display display_;
  std::optional<Github> github_ = Github::from_environment();
};

// Returns what became of the objects: "7 created", "3 objects: 2 created, 1 failed (refused)".
std::string totals_text(const rollout::Ending& ending);

}  // namespace fairlead::report
