
#include "cli/commands/commands.h"
#include "cli/commands/query.h"
#include "cli/core/exit_code.h"
#include "status/show.h"

namespace fairlead::cli {
namespace {

struct ListFlags {
  bool all_namespaces = false;
  std::string output = "text";
};

Task<Result<int>> list(Cluster& cluster, const ListFlags& flags) {
  const std::string& own = cluster.default_namespace();
  auto bundles =
      co_await status::read_bundles(cluster.client(), cluster.discovery(), flags.all_namespaces ? "" : own, own);
  if (!bundles) co_return fail(bundles.error());
  std::string text = status::text_of(*bundles, {.now = cluster.client().server_now(), .wide = flags.output == "wide"});
  if (bundles->bundles.empty()) {
    text.clear();
    bundles->notes.push_back(flags.all_namespaces
                                 ? "there are no bundles"
                                 : fmt::format("there are no bundles in namespace {}; -A lists all namespaces", own));
  }
  print_result(flags.output, text, status::json_of(*bundles), bundles->notes);
  co_return int(kDone);
}

}  // namespace

void add_list(Command app, Invocation& invocation) {
  auto flags = std::make_shared<ListFlags>();
  Command command = app.subcommand("list", "List the bundles in the cluster");
  command.flag("-A,--all-namespaces", flags->all_namespaces, "The bundles of all namespaces");
  add_query_output(command, flags->output);
  command.footer(
      "Examples:\n"
      "  fairlead list\n"
      "  fairlead list -A -o wide\n\n"
      "Exit codes: 0 listed, 1 failed, 64 invalid command line, 130 "
      "interrupted.");
  command.when_chosen([&invocation, flags] {
    invocation.run = [&invocation, flags] {
      return run_query(invocation.globals, [flags](Cluster& cluster) { return list(cluster, *flags); });
    };
  });
}

}  // namespace fairlead::cli
