// The journal of a command, and the file of --journal that it is written to.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "journal/journal.h"
#include "report/journal_file.h"

namespace fairlead::cli {

class RunJournal {
 public:
  // Without a path there is no file.
  static Result<std::unique_ptr<RunJournal>> open(const Clock& clock, const std::string& path);

  journal::Journal& journal() { return journal_; }
  // The exit code of the run, or that of a file which could not be written, which is reported.
  int close(int exit_code);

 private:
  explicit RunJournal(const Clock& clock) : journal_(clock) {}

  journal::Journal journal_;
  std::unique_ptr<report::JournalFile> file_;
};

}  // namespace fairlead::cli
