#include "timeline/timeline.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "journal/reader.h"
#include "report/output.h"
#include "timeline/page_file.h"

namespace fairlead::cli {
namespace {

// The page of a journal of this size has more than a million events.
constexpr size_t kMostBytes = size_t{512} << 20;
constexpr std::string_view kStandardStream = "-";

struct TimelineFlags {
  std::string journal;
  std::string output;
};

Error cannot_be_read(const std::string& path, int number) {
  return Error(number == ENOENT ? ErrorKind::not_found : ErrorKind::invalid,
               fmt::format("the journal {} cannot be read", path))
      .because(std::strerror(number));
}

Result<std::string> read_all(std::FILE* file, const std::string& name) {
  std::string text;
  char block[1 << 16];
  while (size_t size = std::fread(block, 1, sizeof block, file)) {
    text.append(block, size);
    if (text.size() > kMostBytes)
      return fail(ErrorKind::limit, "the journal {} is larger than {} MB", name, kMostBytes >> 20);
  }
  if (std::ferror(file)) return fail(cannot_be_read(name, errno));
  return text;
}

Result<std::string> read_journal_file(const std::string& path) {
  if (path == kStandardStream) return read_all(stdin, "from standard input");
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (!file) return fail(cannot_be_read(path, errno));
  return read_all(file.get(), path);
}

// "run.jsonl" becomes "run.html".
std::string page_path_of(const std::string& journal) {
  size_t name = journal.rfind('/') == std::string::npos ? 0 : journal.rfind('/') + 1;
  size_t dot = journal.rfind('.');
  bool has_ending = dot != std::string::npos && dot > name;
  return journal.substr(0, has_ending ? dot : std::string::npos) + ".html";
}

// Reads the events of the journal, and returns remarks on what is missing in it.
std::vector<std::string> read_into(const journal::Recording& recording, timeline::Timeline& timeline) {
  for (const journal::Event& event : recording.events) timeline.read(event);
  std::vector<std::string> remarks;
  if (recording.is_cut_off) remarks.emplace_back("The last line of the journal is not complete, and was left out.");
  if (!recording.has_ended)
    remarks.emplace_back(
        "The journal has no end: the run was killed, or was still going on. This is what was written until then.");
  for (const std::string& remark : remarks) timeline.remark(remark);
  return remarks;
}

Result<void> write_page(const TimelineFlags& flags, const timeline::Timeline& timeline) {
  std::string page = timeline.page();
  bool to_standard_output =
      flags.output == kStandardStream || (flags.output.empty() && flags.journal == kStandardStream);
  if (to_standard_output) {
    // main() checks whether it could be written.
    std::fwrite(page.data(), 1, page.size(), stdout);
    return {};
  }
  std::string path = flags.output.empty() ? page_path_of(flags.journal) : flags.output;
  if (path == flags.journal)
    return fail(Error(ErrorKind::invalid, fmt::format("the page would replace the journal {}", path))
                    .next(fmt::format("fairlead timeline {} -o FILE.html", flags.journal)));
  TRY(timeline::write_page_file(path, page));
  size_t objects = timeline.object_count();
  report::print(stdout, fmt::format("{} written: {} {}\n", path, objects, objects == 1 ? "object" : "objects"));
  return {};
}

int make_timeline(const TimelineFlags& flags) {
  Result<std::string> text = read_journal_file(flags.journal);
  if (!text) return report(text.error());
  std::string name = flags.journal == kStandardStream ? "standard input" : flags.journal;
  Result<journal::Recording> recording = journal::read_journal(*text, name);
  if (!recording) return report(recording.error());
  timeline::Timeline timeline;
  for (const std::string& remark : read_into(*recording, timeline))
    report::print(stderr, fmt::format("warning: {}\n", remark));
  Result<void> written = write_page(flags, timeline);
  return written ? int(kDone) : report(written.error());
}

}  // namespace

void add_timeline(Command app, Invocation& invocation) {
  auto flags = std::make_shared<TimelineFlags>();
  Command command = app.subcommand("timeline", "Make a page from a journal: what happened when, and why");
  command.option("journal", flags->journal, "A file that --journal wrote; - for standard input")
      .required()
      .value("JOURNAL");
  command
      .option("-o,--output", flags->output,
              "Where to write the page; - for standard output. Without it, next to the journal, ending in .html")
      .value("FILE.html");
  command.footer(
      "The page is one file that needs nothing else: the time of every object and guard, what each of them needs,\n"
      "the critical path, events and warnings. apply and delete write it themselves with --timeline FILE.html.\n\n"
      "Examples:\n"
      "  fairlead apply -f k8s/ --journal run.jsonl\n"
      "  fairlead timeline run.jsonl\n"
      "  fairlead apply -f k8s/ -o jsonl | fairlead timeline - -o run.html");
  command.when_chosen([&invocation, flags] { invocation.run = [flags] { return make_timeline(*flags); }; });
}

}  // namespace fairlead::cli
