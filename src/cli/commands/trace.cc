#include "status/trace.h"

#include "cli/commands/commands.h"
#include "cli/commands/query.h"
#include "cli/core/exit_code.h"
#include "status/show.h"

namespace fairlead::cli {
namespace {

struct TraceFlags {
  std::string object;
  std::string output = "text";
};

Task<Result<int>> trace(Cluster& cluster, const TraceFlags& flags) {
  auto found = co_await status::trace(cluster.client(), cluster.discovery(), flags.object, cluster.default_namespace());
  if (!found) co_return fail(found.error());
  status::Show how{.now = cluster.client().server_now(), .wide = flags.output == "wide"};
  print_result(flags.output, status::text_of(*found, how), status::json_of(*found), found->notes);
  co_return int(kDone);
}

}  // namespace

void add_trace(Command app, Invocation& invocation) {
  auto flags = std::make_shared<TraceFlags>();
  Command command = app.subcommand("trace", "Follow an object to its bundle, its manifest and the run that applied it");
  command.option("KIND/NAME", flags->object, "The object, as kubectl takes it").required().value("");
  add_query_output(command, flags->output);
  command.footer(
      "Examples:\n"
      "  fairlead trace deployment/web\n"
      "  fairlead trace pod/web-7c9f-x2x4l -n team-a\n\n"
      "Exit codes: 0 found, 1 there is no such object, or it "
      "failed, 64 invalid command line, 130 interrupted.");
  command.when_chosen([&invocation, flags] {
    invocation.run = [&invocation, flags] {
      return run_query(invocation.globals, [flags](Cluster& cluster) { return trace(cluster, *flags); });
    };
  });
}

}  // namespace fairlead::cli
