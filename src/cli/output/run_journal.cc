#include "cli/output/run_journal.h"

#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "timeline/page_file.h"

namespace fairlead::cli {

using journal::Detail;
using journal::Event;

Result<std::unique_ptr<RunJournal>> RunJournal::open(const Clock& clock, Files files) {
  std::unique_ptr<RunJournal> run(new RunJournal(clock));
  if (!files.timeline.empty() && files.timeline == files.journal)
    return fail(Error(ErrorKind::invalid, fmt::format("--journal and --timeline both name the file {}", files.journal))
                    .next("give each a file of its own"));
  if (!files.timeline.empty()) {
    TRY(timeline::check_page_file(files.timeline));
    run->journal_.read_by([run = run.get()](const Event& event) { run->timeline_.read(event); }, Detail::full);
    run->timeline_path_ = std::move(files.timeline);
  }
  if (!files.journal.empty()) {
    TRY_ASSIGN(run->file_, report::JournalFile::open(std::move(files.journal)));
    run->journal_.read_by([file = run->file_.get()](const Event& event) { file->read(event); }, Detail::full);
  }
  return run;
}

int RunJournal::close(int exit_code) {
  auto check = [&](const Result<void>& written) {
    if (written) return;
    int code = report(written.error());
    if (exit_code == kDone) exit_code = code;
  };
  if (file_) check(file_->close());
  if (!timeline_path_.empty()) check(timeline::write_page_file(timeline_path_, timeline_.page()));
  return exit_code;
}

void add_journal_flags(Command command, RunJournal::Files& files) {
  command.option("--journal", files.journal, "Write every event to this file, one line of JSON each").value("FILE");
  command.option("--timeline", files.timeline, "Write a page to this file that shows when what happened, and why")
      .value("FILE.html");
}

}  // namespace fairlead::cli
