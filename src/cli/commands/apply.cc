
#include "cli/commands/commands.h"
#include "cli/commands/rollback.h"
#include "cli/core/ask.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/output/output_flags.h"
#include "cli/output/run_journal.h"
#include "cli/runs/fleet.h"
#include "cli/runs/open_rollout.h"
#include "cli/runs/planning.h"
#include "cli/runs/recorded_flags.h"
#include "cli/runs/rollout_flags.h"
#include "cli/runs/timeouts.h"
#include "logs/run_logs.h"
#include "report/rollout_report.h"

namespace fairlead::cli {
namespace {

using rollout::Ending;

struct ApplyFlags : RolloutFlags {
  FleetFlags fleet;
  bool keep_secrets = false;
  bool rollback_on_failure = false;
  bool no_wait = false;
  std::vector<std::string> timeout_for;
  std::string dry_run = "none";
  std::string ignore_policy = "standard";
  OutputFlags output;
  bool logs = false;
  std::string logs_filter;
  RunJournal::Files files;
  bool confirm = false;
  bool yes = false;
  std::string plan;
};

// What the flags say of every run.
struct ApplyRequest {
  rollout::Options options;
  report::Settings settings;
  logs::Filter filter;
};

rollout::IgnorePolicy ignore_policy_of(const std::string& name) {
  if (name == "wait") return rollout::IgnorePolicy::wait;
  return name == "warn" ? rollout::IgnorePolicy::warn : rollout::IgnorePolicy::standard;
}

Result<rollout::Options> options_of(const ApplyFlags& flags) {
  TRY_ASSIGN(rollout::Options options, rollout_options(flags));
  options.dry_run = flags.dry_run != "none";
  options.compare_only = flags.dry_run == "client";
  options.keep_secrets = flags.keep_secrets;
  options.wait = !flags.no_wait;
  options.ignore_policy = ignore_policy_of(flags.ignore_policy);
  TRY_ASSIGN(options.timeout_for, read_timeouts(flags.timeout_for, "fairlead apply … --timeout-for Job=30m"));
  return options;
}

// Returns true if the rollout may begin: the plan of the file is up to date, and the user agrees.
Task<std::expected<bool, int>> may_begin(Cluster& cluster, const ApplyFlags& flags, const std::optional<PlanFile>& plan,
                                         const manifest::Bundle& bundle, const rollout::Options& options,
                                         journal::Journal& journal, CancelSource& stop) {
  if (plan) {
    Result<void> checked = co_await check_plan(cluster, *plan, bundle, options, journal, &stop);
    if (!checked && stop.cancelled()) co_return std::unexpected(int(kInterrupted));
    if (!checked) co_return std::unexpected(report(checked.error()));
  }
  if (!flags.confirm) co_return true;
  co_return co_await confirm_plan(cluster, bundle, options, journal, flags.yes, &stop);
}

Result<ApplyRequest> request_of(const ApplyFlags& flags, const Globals& globals) {
  ApplyRequest request;
  TRY_ASSIGN(request.options, options_of(flags));
  TRY_ASSIGN(request.settings, output_settings(flags.output, globals));
  Result<logs::Filter> filter = logs::Filter::parse(flags.logs_filter);
  if (!filter) return fail(std::move(filter).error().in("--logs-filter is wrong"));
  request.filter = *std::move(filter);
  return request;
}

// Applies the bundle in a cluster and shows how that goes. Closes the cluster.
Task<Ending> apply_in(RealLoop& loop, OpenRollout opened, const ApplyFlags& flags, ApplyRequest request,
                      journal::Journal& journal, CancelSource& stop) {
  Cluster& cluster = *opened.cluster;
  request.settings.may_draw = [&cluster] { return cluster.requests() > 0; };
  report::RolloutReport shown(loop, journal, request.settings, request.options.dry_run);
  journal.read_by([&](const journal::Event& event) { shown.read(event); }, shown.detail());
  logs::RunLogs lines(cluster.client(), cluster.discovery(), journal, std::move(request.filter));
  if (flags.logs) journal.read_by([&](const journal::Event& event) { lines.read(event); });
  Ending ending = co_await rollout::roll_out(cluster.client(), cluster.discovery(), std::move(opened.bundle),
                                             request.options, journal, &stop);
  co_await lines.close();
  shown.finish(ending);
  if (flags.rollback_on_failure)
    co_await go_back_after_failure(cluster, std::move(request.options), ending, std::move(request.settings), &stop);
  co_await cluster.close();
  co_return ending;
}

// One of several clusters. A chart is rendered for each; other manifests have been read.
Task<ClusterEnding> apply_in_member(RealLoop& loop, Invocation invocation, const ApplyFlags& flags,
                                    ApplyRequest request, const manifest::Bundle* bundle, ClusterRun run,
                                    CancelSource& stop) {
  invocation.globals = std::move(run.globals);
  std::expected<manifest::Bundle, int> own;
  if (bundle) own = *bundle;
  else own = co_await read_rollout(loop, invocation, flags, request.options, stop);
  if (!own) co_return ClusterEnding{.how = stop.cancelled() ? Ending::How::interrupted : Ending::How::failed};
  Result<OpenRollout> opened =
      connect_rollout(loop, invocation.globals, run.kubeconfig, *std::move(own), request.options, run.journal);
  if (!opened) co_return ClusterEnding{.how = Ending::How::failed, .error = opened.error()};
  request.settings = std::move(run.settings);
  Ending ending = co_await apply_in(loop, *std::move(opened), flags, std::move(request), run.journal, stop);
  co_return ClusterEnding{.how = ending.how, .totals = report::totals_text(ending)};
}

Task<int> apply_in_fleet(RealLoop& loop, const Invocation& invocation, const ApplyFlags& flags, ApplyRequest request,
                         CancelSource& stop) {
  Result<Fleet> fleet = read_fleet(flags.fleet, invocation.globals, request.settings);
  if (!fleet) co_return report_usage_error(fleet.error());
  auto journal = RunJournal::open(loop.clock(), flags.files);
  if (!journal) co_return report(journal.error());
  std::optional<manifest::Bundle> bundle;
  if (!has_chart(invocation, flags.sources)) {
    auto read = co_await read_rollout(loop, invocation, flags, request.options, stop);
    if (!read) co_return (*journal)->close(read.error());
    bundle = *std::move(read);
  }
  auto run = [&](ClusterRun in) {
    return apply_in_member(loop, invocation, flags, request, bundle ? &*bundle : nullptr, std::move(in), stop);
  };
  int code = co_await run_fleet(loop, *std::move(fleet), (*journal)->journal(), run, stop);
  co_return (*journal)->close(code);
}

Task<int> apply(RealLoop& loop, const Invocation& invocation, const ApplyFlags& flags,
                const std::optional<PlanFile>& plan, CancelSource& stop) {
  Result<ApplyRequest> request = request_of(flags, invocation.globals);
  if (!request) co_return report_usage_error(request.error());
  if (flags.fleet.is_given()) co_return co_await apply_in_fleet(loop, invocation, flags, *std::move(request), stop);
  auto journal = RunJournal::open(loop.clock(), flags.files);
  if (!journal) co_return report(journal.error());
  auto opened = co_await open_rollout(loop, invocation, flags, request->options, (*journal)->journal(), stop);
  if (!opened) co_return opened.error();
  auto begins =
      co_await may_begin(*opened->cluster, flags, plan, opened->bundle, request->options, (*journal)->journal(), stop);
  if (!begins) {
    co_await opened->cluster->close();
    co_return (*journal)->close(begins.error());
  }
  Ending ending = co_await apply_in(loop, *std::move(opened), flags, *std::move(request), (*journal)->journal(), stop);
  co_return (*journal)->close(exit_code(ending.how));
}

void add_flags(Command command, ApplyFlags& flags) {
  add_rollout_flags(command, flags);
  command.flag("--keep-secrets", flags.keep_secrets, "Keep the values of Secrets in the bundle's history")
      .needs("--name");
  command
      .flag("--rollback-on-failure", flags.rollback_on_failure,
            "If it fails, go back to the last revision of the bundle that was done")
      .needs("--name");
  command.flag("--no-wait", flags.no_wait, "Do not wait until objects are ready");
  add_timeout_for_flag(command, flags.timeout_for);
  Flag dry_run =
      command
          .option("--dry-run", flags.dry_run,
                  "Store nothing: the API server checks everything (server), or it is only compared (client)")
          .one_of({"none", "server", "client"});
  command.flag("--confirm", flags.confirm, "Show the plan, and ask before anything is stored").excludes(dry_run);
  command.flag("-y,--yes", flags.yes, "Do not ask for confirmation");
  command
      .option("--plan", flags.plan,
              "Apply what `fairlead plan --out` has written, with its flags; refused if anything changed since")
      .value("FILE")
      .excludes(dry_run);
  command
      .option("--ignore-policy", flags.ignore_policy,
              "If a webhook with failurePolicy Ignore does not answer: wait for it, warn, or standard (wait for "
              "webhooks of the bundle, warn about others)")
      .one_of({"standard", "wait", "warn"});
  add_output_flags(command, flags.output);
  Flag logs = command.flag("--logs", flags.logs, "Show what pods that are not ready write: one replica of each");
  command.option("--logs-filter", flags.logs_filter, "Only lines that match this regular expression (RE2)")
      .value("REGEX")
      .needs(logs);
  add_journal_flags(command, flags.files);
  add_fleet_flags(command, flags.fleet);
}

// What is about one cluster, or is asked once.
Result<void> check_fleet(const ApplyFlags& flags) {
  if (!flags.fleet.is_given()) return {};
  if (flags.confirm) return fail(not_in_a_fleet("--confirm"));
  if (!flags.plan.empty()) return fail(not_in_a_fleet("--plan"));
  if (!flags.files.timeline.empty()) return fail(not_in_a_fleet("--timeline"));
  return {};
}

// The flags of the plan, and those of this command line.
struct Planned {
  PlanFile file;
  ApplyFlags flags;
};

std::expected<Planned, int> read_planned(Command command, const std::string& path, Invocation& invocation) {
  Result<PlanFile> file = read_plan_file(path);
  if (!file) return std::unexpected(report(file.error()));
  Planned planned{.file = *std::move(file), .flags = {}};
  Result<void> parsed =
      parse_again(planned.file.flags, command, [&](Command again) { add_flags(again, planned.flags); });
  if (!parsed)
    return std::unexpected(report(Error(ErrorKind::invalid, fmt::format("the flags of {} cannot be used", path))
                                      .because(parsed.error().message())
                                      .next("fairlead plan … --out FILE makes a new one")));
  if (invocation.behind.empty()) invocation.behind = planned.file.behind;
  if (invocation.globals.namespace_name.empty() && planned.file.namespace_is_chosen)
    invocation.globals.namespace_name = planned.file.ns;
  return planned;
}

int run_apply(Command command, const ApplyFlags& flags, Invocation& invocation) {
  if (flags.confirm && !flags.yes && !can_ask())
    return report_usage_error(Error(ErrorKind::invalid, "--confirm needs a terminal to ask on")
                                  .next("fairlead apply --confirm --yes shows the plan and does not ask"));
  if (Result<void> checked = check_fleet(flags); !checked) return report_usage_error(checked.error());
  std::optional<PlanFile> plan;
  ApplyFlags wanted = flags;
  if (!flags.plan.empty()) {
    std::expected<Planned, int> planned = read_planned(command, flags.plan, invocation);
    if (!planned) return planned.error();
    plan = std::move(planned->file);
    wanted = std::move(planned->flags);
  }
  return run_interruptibly(
      [&](RealLoop& loop, CancelSource& stop) { return apply(loop, invocation, wanted, plan, stop); });
}

}  // namespace

void add_apply(Command app, Invocation& invocation) {
  auto flags = std::make_shared<ApplyFlags>();
  Command command =
      app.subcommand("apply", "Apply manifests in the order that the cluster needs, and wait until they are ready");
  add_flags(command, *flags);
  command.footer(
      "Examples:\n"
      "  fairlead apply -f k8s/\n"
      "  fairlead apply -R -f deploy/ --name shop --prune\n"
      "  fairlead apply -f k8s/ --confirm\n"
      "  fairlead plan -f k8s/ --out shop.plan; fairlead apply --plan shop.plan\n"
      "  fairlead apply --chart ./chart --name shop -- --set replicas=3\n"
      "  fairlead apply -k overlays/prod --name shop\n"
      "  fairlead apply -f k8s/ --contexts eu-1,eu-2,us-1\n"
      "  fairlead apply                        # what fairlead.yaml says\n\n"
      "Exit codes: 0 done, 1 failed, 3 timed out, 4 conflicts, 64 invalid command line, 130 interrupted.");
  command.when_chosen([&invocation, flags, command] {
    invocation.run = [&invocation, flags, command] { return run_apply(command, *flags, invocation); };
  });
}

}  // namespace fairlead::cli
