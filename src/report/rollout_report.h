// Shows `fairlead apply`: one line per event during the run, and the results at the end.
#pragma once

#include <set>
#include <string>

#include "report/output.h"
#include "rollout/rollout.h"

namespace fairlead::report {

class RolloutReport {
 public:
  RolloutReport(Output output, bool dry_run) : output_(output), dry_run_(dry_run) {}

  // Call it for every event of the journal.
  void read(const journal::Event& event);
  void finish(const rollout::Ending& ending) const;

 private:
  std::string line_of(const journal::Event& event);

  Output output_;
  bool dry_run_;
  // Causes that block objects and were already shown. Each is shown once, however many objects it blocks.
  std::set<std::string> told_;
};

}  // namespace fairlead::report
