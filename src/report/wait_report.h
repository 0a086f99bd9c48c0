// Shows `fairlead wait`: what happens during the run, and the results at the end.
#pragma once

#include "report/display.h"
#include "report/github.h"
#include "report/output.h"
#include "wait/wait.h"

namespace fairlead::report {

class WaitReport {
 public:
  // What the references point to must outlive the report. `layers`: also print the layers of each webhook.
  WaitReport(Loop& loop, const journal::Journal& journal, Settings settings, bool layers);

  // Call it for every event of the journal.
  void read(const journal::Event& event);
  void finish(const wait::Ending& ending);

 private:
  Output output_;
  bool layers_;
  Display display_;
  std::optional<Github> github_ = Github::from_environment();
};

// Returns what became of the objects: "2 met", "2 objects: 1 met, 1 timed out".
std::string totals_text(const wait::Ending& ending);

// Returns the layers of a webhook as a table, with its name above.
std::string layers_text(const wait::WebhookEnding& webhook);

}  // namespace fairlead::report
