#include "wait/wait.h"

#include <unistd.h>

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/input/sources.h"
#include "cli/output/output_flags.h"
#include "cli/output/run_journal.h"
#include "cli/runs/timeouts.h"
#include "inventory/holder.h"
#include "report/wait_report.h"

namespace fairlead::cli {
namespace {

struct WaitFlags {
  std::vector<std::string> objects;
  SourceFlags sources;
  std::string form = "ready";
  wait::Selection selection;
  bool all_namespaces = false;
  bool any = false;
  std::string timeout;
  std::string existence_timeout;
  bool allow_short = false;
  std::string probe_with;
  bool layers = false;
  OutputFlags output;
  RunJournal::Files files;
};

Result<wait::Options> options_of(const WaitFlags& flags) {
  wait::Options options{.any = flags.any, .allow_short = flags.allow_short, .all_namespaces = flags.all_namespaces};
  TRY_ASSIGN(options.form, wait::Form::parse(flags.form));
  if (!flags.timeout.empty()) {
    TRY_ASSIGN(options.timeout, read_duration("--timeout", flags.timeout));
  }
  if (!flags.existence_timeout.empty()) {
    TRY_ASSIGN(options.existence_timeout, read_duration("--existence-timeout", flags.existence_timeout));
  }
  options.run = inventory::run_of(::getpid());
  options.run_known_dead = inventory::is_gone_run;
  return options;
}

Result<std::vector<wait::Target>> named_targets(const WaitFlags& flags) {
  if (!flags.sources.empty() && !flags.objects.empty())
    return fail(Error(ErrorKind::invalid, "KIND/NAME cannot be used together with -f, -k or --chart: give one of them")
                    .next("fairlead wait --help"));
  return wait::read_targets(flags.objects, flags.selection);
}

// Reads the object of --probe-with. On failure, reports the error and returns the exit code.
Task<std::expected<object::Object, int>> read_probe(RealLoop& loop, const Invocation& invocation,
                                                    const WaitFlags& flags, CancelSource& stop) {
  SourceFlags source{.files = {flags.probe_with}, .command = flags.sources.command};
  auto bundle = co_await read_sources(loop, invocation, source, {.stop = &stop});
  if (!bundle) co_return std::unexpected(bundle.error());
  if (bundle->objects.size() == 1) co_return std::move(bundle->objects.front());
  report(
      Error(ErrorKind::invalid, fmt::format("--probe-with {} has {} objects", flags.probe_with, bundle->objects.size()))
          .next("give a file with the one object that the webhooks are to decide on"));
  co_return std::unexpected(kUsage);
}

// Only the cluster tells which kind "deploy" is, and so that a form does not fit it.
int code_of(const wait::Ending& ending) {
  bool is_misused = ending.how == wait::Ending::How::failed && !ending.causes.empty() &&
                    std::ranges::all_of(ending.causes, [](const journal::Cause& cause) {
                      return cause.error.kind() == ErrorKind::invalid;
                    });
  return is_misused ? int(kUsage) : exit_code(ending.how);
}

Task<int> wait_in_cluster(RealLoop& loop, const Invocation& invocation, const WaitFlags& flags,
                          std::vector<wait::Target> targets, wait::Options options, report::Settings settings,
                          CancelSource& stop) {
  auto journal = RunJournal::open(loop.clock(), flags.files);
  if (!journal) co_return report(journal.error());
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, invocation.globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  options.default_namespace = (*cluster)->default_namespace();
  settings.may_draw = [&cluster] { return (*cluster)->requests() > 0; };
  report::WaitReport shown(loop, (*journal)->journal(), std::move(settings), flags.layers);
  (*journal)->journal().read_by([&](const journal::Event& event) { shown.read(event); });
  wait::Ending ending = co_await wait::wait_for((*cluster)->client(), (*cluster)->discovery(), std::move(targets),
                                                std::move(options), (*journal)->journal(), &stop);
  shown.finish(ending);
  co_await (*cluster)->close();
  co_return (*journal)->close(code_of(ending));
}

Task<int> wait_for_objects(RealLoop& loop, const Invocation& invocation, const WaitFlags& flags, CancelSource& stop) {
  Result<wait::Options> options = options_of(flags);
  if (!options) co_return report_usage_error(options.error());
  Result<report::Settings> settings = output_settings(flags.output, invocation.globals);
  if (!settings) co_return report_usage_error(settings.error());
  std::vector<wait::Target> targets;
  if (flags.objects.empty() && has_sources(invocation, flags.sources)) {
    auto bundle = co_await read_sources(loop, invocation, flags.sources, {.stop = &stop});
    if (!bundle) co_return bundle.error();
    targets = wait::targets_of(*bundle);
  } else {
    Result<std::vector<wait::Target>> named = named_targets(flags);
    if (!named) co_return report_usage_error(named.error());
    targets = *std::move(named);
  }
  if (!flags.probe_with.empty()) {
    auto probe = co_await read_probe(loop, invocation, flags, stop);
    if (!probe) co_return probe.error();
    options->probe = *std::move(probe);
  }
  if (Result<void> checked = wait::check(targets, *options); !checked) co_return report_usage_error(checked.error());
  co_return co_await wait_in_cluster(loop, invocation, flags, std::move(targets), *std::move(options),
                                     *std::move(settings), stop);
}

void add_flags(Command command, WaitFlags& flags) {
  command
      .option("objects", flags.objects,
              "Objects such as deployment/web, webhook/NAME or webhook/CONFIGURATION/NAME; or kinds, with -l or --all")
      .value("KIND/NAME");
  add_source_flags(command, flags.sources);
  command.option("--for", flags.form, "What to wait for")
      .value("{ready,functional,rollout,create,delete,condition=,jsonpath=,field=}")
      .show_default();
  command.option("-l,--selector", flags.selection.selector, "Objects with these labels, such as app=web")
      .value("LABELS");
  command.flag("--all", flags.selection.all, "All objects of the kinds in the namespace");
  command.flag("-A,--all-namespaces", flags.all_namespaces, "With -l or --all: in all namespaces");
  command.flag("--any", flags.any, "One of the objects is enough");
  command
      .option("--timeout", flags.timeout,
              "How long each object may take once it exists: 10m, or 3m for webhooks; 0 to look once")
      .value("DURATION");
  command
      .option("--existence-timeout", flags.existence_timeout,
              "How long each object may take to exist: 5m, or --timeout if that is shorter")
      .value("DURATION");
  command.flag("--allow-short", flags.allow_short, "Allow a --timeout under 30s for webhooks");
  command
      .option("--probe-with", flags.probe_with,
              "File with an object that the webhooks also have to allow or deny, in a dry run")
      .value("FILE");
  command.flag("--layers", flags.layers, "Print each layer of the webhooks, from the configuration to the answer");
  add_format_flags(command, flags.output);
  command.option("--journal", flags.files.journal, "Write every event to this file, one line of JSON each")
      .value("FILE");
}

}  // namespace

void add_wait(Command app, Invocation& invocation) {
  auto flags = std::make_shared<WaitFlags>();
  Command command = app.subcommand("wait", "Wait until objects are ready, or webhooks are proved to work");
  add_flags(command, *flags);
  command.footer(
      "Objects, and kinds, that do not exist yet are waited for. What can never become true, such as a failed\n"
      "Job or a missing right, fails at once. A webhook is ready when it is functional: the API server was made\n"
      "to call it, at every ready endpoint, and it answered.\n\n"
      "Examples:\n"
      "  fairlead wait deployment/web job/migrate -n shop\n"
      "  fairlead wait webhook/cert-manager-webhook --layers\n"
      "  fairlead wait crd/widgets.example.com --timeout 1m\n"
      "  fairlead wait pods -l app=web --for condition=Ready\n"
      "  fairlead wait service/web --for field=status.loadBalancer.ingress[0].ip\n"
      "  fairlead wait -f k8s/ --for delete\n\n"
      "Exit codes: 0 it came true, 1 failed, 3 timed out, 64 invalid command line, 130 interrupted.");
  run_when_chosen(command, invocation, [&invocation, flags](RealLoop& loop, CancelSource& stop) {
    return wait_for_objects(loop, invocation, *flags, stop);
  });
}

}  // namespace fairlead::cli
