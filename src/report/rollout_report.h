// What is shown of `fairlead apply`: a line an event while it runs, and what came of it at the end.
#pragma once

#include <set>
#include <string>

#include "report/output.h"
#include "rollout/rollout.h"

namespace fairlead::report {

class RolloutReport {
 public:
  RolloutReport(Output output, bool dry_run) : output_(output), dry_run_(dry_run) {}

  // A reader of the journal.
  void read(const journal::Event& event);
  void finish(const rollout::Ending& ending) const;

 private:
  std::string line_of(const journal::Event& event);

  Output output_;
  bool dry_run_;
  // What holds objects is told once, however many it holds.
  std::set<std::string> told_;
};

}  // namespace fairlead::report
