// What is shown of `fairlead apply`: a line an event while it runs, and what came of it at the end.
#pragma once

#include <set>
#include <string>

#include "report/screen.h"
#include "rollout/rollout.h"

namespace fairlead::report {

class RolloutReport {
 public:
  RolloutReport(Screen screen, bool dry_run) : screen_(screen), dry_run_(dry_run) {}

  // A reader of the journal.
  void read(const journal::Event& event);
  void finish(const rollout::Ending& ending) const;

 private:
  std::string line_of(const journal::Event& event);

  Screen screen_;
  bool dry_run_;
  // What holds objects is told once, however many it holds.
  std::set<std::string> told_;
};

}  // namespace fairlead::report
