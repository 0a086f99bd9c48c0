// The journal of a command, and the files that are made from it: those of --journal and --timeline.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "cli/core/flags.h"
#include "journal/journal.h"
#include "report/journal_file.h"
#include "timeline/timeline.h"

namespace fairlead::cli {

class RunJournal {
 public:
  // The files of --journal and --timeline; empty if there is none.
  struct Files {
    std::string journal;
    std::string timeline;
  };

  // Fails if a file cannot be written.
  static Result<std::unique_ptr<RunJournal>> open(const Clock& clock, Files files);

  journal::Journal& journal() { return journal_; }
  // Writes what is left to write. Returns the exit code of the run, or that of a file which could not be written, which
  // is reported.
  int close(int exit_code);

 private:
  explicit RunJournal(const Clock& clock) : journal_(clock) {}

  journal::Journal journal_;
  std::unique_ptr<report::JournalFile> file_;
  timeline::Timeline timeline_;
  std::string timeline_path_;
};

// Adds --journal and --timeline.
void add_journal_flags(Command command, RunJournal::Files& files);

}  // namespace fairlead::cli
