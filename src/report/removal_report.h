// What `fairlead delete` prints: a line an event while it runs, and what came of it at the end.
#pragma once

#include "cli/apply_output.h"
#include "removal/removal.h"

namespace fairlead::cli {

class DeleteOutput {
 public:
  DeleteOutput(OutputFormat format, removal::DryRun dry_run) : format_(format), dry_run_(dry_run) {}

  // A reader of the journal.
  void read(const journal::Event& event) const;
  void finish(const removal::Ending& ending) const;

 private:
  OutputFormat format_;
  removal::DryRun dry_run_;
};

}  // namespace fairlead::cli
