
#include "cli/commands/commands.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/output/external_diff.h"
#include "cli/output/run_journal.h"
#include "cli/runs/open_rollout.h"
#include "cli/runs/planning.h"
#include "cli/runs/recorded_flags.h"
#include "cli/runs/rollout_flags.h"

namespace fairlead::cli {
namespace {

using rollout::Ending;

constexpr int kMostLines = 1'000'000;

struct PlanFlags : RolloutFlags {
  bool diff_only = false;
  std::string dry_run = "server";
  size_t lines = 3;
  bool full = false;
  bool show_secrets = false;
  std::string output = "text";
  std::string out;
  std::string journal;
};

Result<rollout::Options> options_of(const PlanFlags& flags) {
  TRY_ASSIGN(rollout::Options options, rollout_options(flags));
  options.dry_run = true;
  options.compare_only = flags.dry_run == "client";
  options.look.show_secrets = flags.show_secrets;
  options.with_defaults = flags.full;
  if (!flags.out.empty()) options.digest_key = new_digest_key();
  return options;
}

Result<void> write_plan(const Cluster& cluster, const PlanFlags& flags, const rollout::Options& options,
                        const std::vector<PlanFile::Flag>& recorded, const Invocation& invocation,
                        const Ending& ending) {
  if (flags.out.empty() || ending.how != Ending::How::done) return {};
  return write_plan_file({.context = cluster.context(),
                          .server = cluster.server(),
                          .ns = options.default_namespace,
                          .namespace_is_chosen = options.namespace_is_chosen,
                          .bundle = options.name,
                          .digest_key = options.digest_key,
                          .flags = recorded,
                          .behind = invocation.behind,
                          .objects = planned_objects(ending)},
                         flags.out);
}

int exit_code_of(const Ending& ending) {
  if (ending.how != Ending::How::done) return exit_code(ending.how);
  return report::counts_of(ending).changes() > 0 ? kChanges : kDone;
}

// Shows the plan, with the user's own program if there is one, and writes its file. Returns the exit code.
Task<int> show(RealLoop& loop, const report::PlanReport& shown, const PlanFlags& flags,
               const std::vector<std::string>& program, const Ending& ending) {
  shown.finish(ending, flags.dry_run == "server");
  bool has_differences = std::ranges::any_of(ending.objects, [](const rollout::ObjectEnding& object) {
    return object.forecast && !object.forecast->change.empty();
  });
  if (program.empty() || !has_differences) co_return exit_code_of(ending);
  Result<void> shown_by_program = co_await run_external_diff(loop, program, ending);
  co_return shown_by_program ? exit_code_of(ending) : report(shown_by_program.error());
}

Task<int> plan(RealLoop& loop, Invocation& invocation, const PlanFlags& flags, std::vector<PlanFile::Flag> recorded,
               CancelSource& stop) {
  Result<rollout::Options> options = options_of(flags);
  if (!options) co_return report_usage_error(options.error());
  auto journal = RunJournal::open(loop.clock(), {.journal = flags.journal, .timeline = {}});
  if (!journal) co_return report(journal.error());
  auto opened = co_await open_rollout(loop, invocation, flags, *options, (*journal)->journal(), stop);
  if (!opened) co_return opened.error();
  Cluster& cluster = *opened->cluster;

  report::Format format = report::format_of(flags.output);
  std::vector<std::string> program = format == report::Format::text ? external_diff() : std::vector<std::string>();
  report::PlanReport shown(
      format, place_of(cluster, *options),
      {.context = flags.lines, .full = flags.full, .diff_only = flags.diff_only, .no_diff = !program.empty()});
  report::PlanProgress progress(loop);
  (*journal)->journal().read_by([&](const journal::Event& event) {
    progress.read(event);
    shown.read(event);
  });
  Ending ending = co_await make_plan(cluster, std::move(opened->bundle), *options, (*journal)->journal(), &stop);
  progress.stop();
  int code = co_await show(loop, shown, flags, program, ending);
  Result<void> written = write_plan(cluster, flags, *options, recorded, invocation, ending);
  if (!written) code = report(written.error());
  co_await cluster.close();
  co_return (*journal)->close(code);
}

void add_flags(Command command, PlanFlags& flags) {
  add_rollout_flags(command, flags);
  command
      .option("--dry-run", flags.dry_run,
              "Who finds out: the API server (server), or Fairlead by a comparison of its own (client)")
      .one_of({"server", "client"})
      .show_default();
  command.option("--lines", flags.lines, "The number of lines around each change")
      .between(0, kMostLines)
      .value("N")
      .show_default();
  command.flag("--full", flags.full, "Show whole objects, with what the API server fills in");
  command.flag("--show-secrets", flags.show_secrets, "Show the values of Secrets");
  command.option("-o,--output", flags.output, "What to print: text or json").one_of({"text", "json"});
  command.option("--journal", flags.journal, "Write all events to this file, one JSON object per line").value("FILE");
}

int run_plan(Command command, const PlanFlags& flags, Invocation& invocation) {
  std::vector<PlanFile::Flag> recorded =
      recorded_flags(command, {"--out", "--output", "--journal", "--lines", "--full", "--show-secrets", "--dry-run"});
  return run_interruptibly(
      [&](RealLoop& loop, CancelSource& stop) { return plan(loop, invocation, flags, recorded, stop); });
}

Command add_command(Command app, Invocation& invocation, const std::string& name, const std::string& description,
                    const std::shared_ptr<PlanFlags>& flags) {
  Command command = app.subcommand(name, description);
  add_flags(command, *flags);
  command.when_chosen([&invocation, flags, command] {
    invocation.run = [&invocation, flags, command] { return run_plan(command, *flags, invocation); };
  });
  return command;
}

constexpr std::string_view kExitCodes =
    "Exit codes: 0 nothing to do, 1 failed, 2 changes, 3 timed out, 4 conflicts, 64 invalid command line,\n"
    "130 interrupted.";

}  // namespace

void add_plan(Command app, Invocation& invocation) {
  auto flags = std::make_shared<PlanFlags>();
  Command command =
      add_command(app, invocation, "plan", "Show what apply would do, in which order and why; store nothing", flags);
  command.option("--out", flags->out, "Write the plan to this file, for `fairlead apply --plan`").value("FILE");
  command.footer(
      "Examples:\n"
      "  fairlead plan -f k8s/\n"
      "  fairlead plan -R -f deploy/ --name shop --prune --lines 1\n"
      "  fairlead plan -f k8s/ --out shop.plan; fairlead apply --plan shop.plan\n\n" +
      std::string(kExitCodes));
}

void add_diff(Command app, Invocation& invocation) {
  auto flags = std::make_shared<PlanFlags>();
  flags->diff_only = true;
  Command command =
      add_command(app, invocation, "diff", "Show how apply would change the objects in the cluster", flags);
  command.footer(
      "Examples:\n"
      "  fairlead diff -f k8s/\n"
      "  KUBECTL_EXTERNAL_DIFF=\"colordiff -N -u\" fairlead diff -f k8s/\n\n" +
      std::string(kExitCodes));
}

}  // namespace fairlead::cli
