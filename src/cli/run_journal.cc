#include "cli/run_journal.h"

#include "cli/command.h"

namespace fairlead::cli {

Result<std::unique_ptr<RunJournal>> RunJournal::open(const Clock& clock, const std::string& path) {
  std::unique_ptr<RunJournal> run(new RunJournal(clock));
  if (path.empty()) return run;
  TRY_ASSIGN(run->file_, report::JournalFile::open(path));
  run->journal_.read_by([file = run->file_.get()](const journal::Event& event) { file->read(event); });
  return run;
}

int RunJournal::close(int exit_code) {
  if (!file_) return exit_code;
  Result<void> written = file_->close();
  if (written) return exit_code;
  int code = report(written.error());
  return exit_code == kDone ? code : exit_code;
}

}  // namespace fairlead::cli
