
#include "async/scope.h"
#include "cli/commands/commands.h"
#include "cli/commands/query.h"
#include "cli/core/exit_code.h"
#include "report/output.h"
#include "status/show.h"

namespace fairlead::cli {
namespace {

// How often --watch looks again.
constexpr Duration kWatchPause = std::chrono::seconds(2);
constexpr std::string_view kClearScreen = "\033[H\033[2J";

struct StatusFlags {
  std::string name;
  bool watch = false;
  std::string output = "text";
};

// Shows the bundle. Under --watch, shows it again whenever something has changed, until all of it is ready.
Task<Result<int>> show(Cluster& cluster, const StatusFlags& flags) {
  std::string before;
  while (true) {
    auto read =
        co_await status::read_status(cluster.client(), cluster.discovery(), flags.name, cluster.default_namespace());
    if (!read) co_return fail(read.error());
    std::string compared = status::json_of(*read).dump();
    if (compared != before) {
      if (flags.watch && report::can_paint(stdout)) std::fwrite(kClearScreen.data(), 1, kClearScreen.size(), stdout);
      status::Show how{
          .now = cluster.client().server_now(), .wide = flags.output == "wide", .colours = report::can_paint(stdout)};
      print_result(flags.output, status::text_of(*read, how), status::json_of(*read), read->notes);
    }
    before = std::move(compared);
    if (read->is_ready()) co_return int(kDone);
    if (!flags.watch) co_return int(kFailed);
    CO_TRY(co_await sleep_for(cluster.loop(), kWatchPause));
  }
}

}  // namespace

void add_status(Command app, Invocation& invocation) {
  auto flags = std::make_shared<StatusFlags>();
  Command command = app.subcommand("status", "Show how the objects of a bundle are, and what has drifted");
  command.option("NAME", flags->name, "The bundle's name").required().value("");
  command.flag("-w,--watch", flags->watch, "Show it again when something changes, until all of it is ready");
  add_query_output(command, flags->output);
  command.footer(
      "Examples:\n"
      "  fairlead status shop\n"
      "  fairlead status shop -n team-a --watch\n\n"
      "Exit codes: 0 everything is ready, 1 something is not, or "
      "it failed, 64 invalid command line, 130 interrupted.\n"
      "Drift alone is not a failure: it is shown.");
  command.when_chosen([&invocation, flags] {
    invocation.run = [&invocation, flags] {
      return run_query(invocation.globals, [flags](Cluster& cluster) { return show(cluster, *flags); });
    };
  });
}

}  // namespace fairlead::cli
