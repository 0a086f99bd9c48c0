#include <cstdio>

#include "async/scope.h"
#include "base/printable.h"
#include "cli/commands/commands.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/output/run_journal.h"
#include "webhook/controller/controller.h"
#include "webhook/dynamo/dynamo.h"

namespace fairlead::cli {
namespace {

struct ControllerFlags {
  std::string policies = "dynamo";
  bool all_namespaces = false;
};

// Somebody follows the lines: none may wait in a buffer.
void print_line(const std::string& line) {
  std::fputs((printable_line(line) + "\n").c_str(), stdout);
  (void)std::fflush(stdout);
}

Task<int> control_cluster(RealLoop& loop, const Invocation& invocation, const ControllerFlags& flags,
                          CancelSource& stop) {
  auto journal = RunJournal::open(loop.clock(), {});
  if (!journal) co_return report(journal.error());
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, invocation.globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  webhook::ControllerOptions options{.tell = print_line};
  if (!flags.all_namespaces) options.ns = (*cluster)->default_namespace();
  Scope scope(loop, &stop);
  scope.spawn(webhook::control((*cluster)->client(), webhook::dynamo_policies({}), std::move(options)));
  co_await scope.join();
  co_await (*cluster)->close();
  co_return kDone;
}

}  // namespace

void add_webhook_controller(Command webhook, Invocation& invocation) {
  auto flags = std::make_shared<ControllerFlags>();
  Command command = webhook.subcommand("controller", "Check stored objects by the policies, where no webhook does");
  command.option("--policies", flags->policies, "The policy set").one_of({"dynamo"}).show_default();
  command.flag("-A,--all-namespaces", flags->all_namespaces, "In all namespaces, not only that of -n");
  command.footer(
      "Writes the condition Valid into the status of each object of the set, and an Event when the verdict changes.\n"
      "Objects that are being deleted are left alone, and so are conditions that somebody else writes. It prints a "
      "line\n"
      "per verdict, and runs until it is stopped.\n\n"
      "Examples:\n"
      "  fairlead webhook controller --all-namespaces\n"
      "  fairlead webhook controller -n team-a\n\n"
      "Exit codes: 0 stopped as it was asked to, 1 no cluster can be found, 64 invalid command line.");
  run_when_chosen(command, invocation, [&invocation, flags](RealLoop& loop, CancelSource& stop) {
    return control_cluster(loop, invocation, *flags, stop);
  });
}

}  // namespace fairlead::cli
