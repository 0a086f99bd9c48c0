#include <cstdio>

#include "base/printable.h"
#include "cli/commands/commands.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/output/run_journal.h"
#include "inventory/inventory.h"
#include "logs/bundle_logs.h"

namespace fairlead::cli {
namespace {

struct LogsFlags {
  std::string name;
  std::vector<std::string> only;
  bool follow = false;
  int64_t tail = -1;
  std::string filter;
};

void print_line(const logs::Source& source, std::string_view line) {
  std::string text = logs::line_text(source.pod, source.container, printable_line(line)) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

Result<logs::BundleOptions> options_of(const LogsFlags& flags) {
  TRY(inventory::check_name(flags.name));
  logs::BundleOptions options{.name = flags.name, .only = flags.only, .follow = flags.follow};
  if (flags.tail >= 0) options.tail = flags.tail;
  TRY_ASSIGN(options.filter, logs::Filter::parse(flags.filter));
  return options;
}

Task<int> show_logs(RealLoop& loop, const Globals& globals, const LogsFlags& flags, CancelSource& stop) {
  Result<logs::BundleOptions> options = options_of(flags);
  if (!options) co_return report_usage_error(options.error());
  journal::Journal journal(loop.clock());
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, globals, journal);
  if (!cluster) co_return report(cluster.error());
  options->home = (*cluster)->default_namespace();
  Result<void> read =
      co_await logs::read_bundle((*cluster)->client(), (*cluster)->discovery(), *std::move(options), print_line)
          .governed_by(&stop);
  co_await (*cluster)->close();
  // Ctrl-C is how people stop to follow.
  if (stop.cancelled()) co_return kInterrupted;
  co_return read ? int(kDone) : report(read.error());
}

}  // namespace

void add_logs(Command app, Invocation& invocation) {
  auto flags = std::make_shared<LogsFlags>();
  Command command = app.subcommand("logs", "Print what the pods of a bundle write");
  command.option("NAME", flags->name, "The bundle's name").value("").required();
  command.option("objects", flags->only, "Only the pods of these objects: KIND or KIND/NAME").value("KIND/NAME");
  command.flag("-f,--follow", flags->follow, "Go on with what they write from now on, until Ctrl-C");
  command.option("--tail", flags->tail, "Begin with so many of the last lines of each container")
      .between(int64_t{0}, int64_t{1'000'000'000})
      .value("N");
  command.option("--filter", flags->filter, "Only lines that match this regular expression (RE2)").value("REGEX");
  command.footer(
      "Examples:\n"
      "  fairlead logs shop --tail 20\n"
      "  fairlead logs shop -f deployment/web --filter 'ERROR|WARN'\n\n"
      "Exit codes: 0 done, 1 failed, 64 invalid command line, 130 interrupted.");
  run_when_chosen(command, invocation, [&invocation, flags](RealLoop& loop, CancelSource& stop) {
    return show_logs(loop, invocation.globals, *flags, stop);
  });
}

}  // namespace fairlead::cli
