#include <cstdio>
#include <cstdlib>

#include "async/scope.h"
#include "cli/commands/commands.h"
#include "cli/core/ask.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/input/sources.h"
#include "cli/output/output_flags.h"
#include "cli/output/run_journal.h"
#include "cli/runs/deletion_hooks.h"
#include "cli/runs/holder.h"
#include "cli/runs/timeouts.h"
#include "report/removal_report.h"

namespace fairlead::cli {
namespace {

using removal::Ending;

struct DeleteFlags {
  SourceFlags sources;
  std::string name;
  bool no_hooks = false;
  std::vector<std::string> objects;
  std::string timeout = "0";
  std::vector<std::string> timeout_for;
  bool no_wait = false;
  std::string cascade = "background";
  std::string dry_run = "none";
  bool yes = false;
  bool force = false;
  bool with_contents = false;
  bool force_finalizers = false;
  bool cluster_gone = false;
  OutputFlags output;
  RunJournal::Files files;
};

int exit_code(Ending::How how) {
  switch (how) {
    case Ending::How::done: return kDone;
    case Ending::How::failed: return kFailed;
    case Ending::How::timed_out: return kTimedOut;
    case Ending::How::interrupted: return kInterrupted;
    case Ending::How::declined: return kFailed;
  }
  return kFailed;
}

removal::Cascade cascade_of(const std::string& name) {
  if (name == "foreground") return removal::Cascade::foreground;
  return name == "orphan" ? removal::Cascade::orphan : removal::Cascade::background;
}

removal::DryRun dry_run_of(const std::string& name) {
  if (name == "client") return removal::DryRun::client;
  return name == "server" ? removal::DryRun::server : removal::DryRun::none;
}

// Asks on the terminal, without the live view in the way.
Task<bool> ask_aside(Loop& loop, report::Display& display, std::string text) {
  display.pause();
  bool is_wanted = co_await ask(loop, std::move(text));
  display.resume();
  co_return is_wanted;
}

Result<removal::Options> options_of(const DeleteFlags& flags) {
  removal::Options options;
  options.cascade = cascade_of(flags.cascade);
  options.dry_run = dry_run_of(flags.dry_run);
  options.wait = !flags.no_wait;
  options.force = flags.force;
  options.with_contents = flags.with_contents;
  options.force_finalizers = flags.force_finalizers;
  options.cluster_gone = flags.cluster_gone;
  sign(options);
  TRY_ASSIGN(options.timeout, read_duration("--timeout", flags.timeout));
  TRY_ASSIGN(options.timeout_for, read_timeouts(flags.timeout_for, "fairlead delete … --timeout-for Namespace=30m"));
  return options;
}

Result<void> check(const DeleteFlags& flags, bool has_manifests) {
  bool has_bundle = has_manifests || !bundle_name(flags.name, flags.sources).empty();
  if (!has_bundle && flags.objects.empty())
    return fail(ErrorKind::invalid,
                "nothing says what is to be deleted: give -f FILE, --name BUNDLE, --chart CHART or KIND/NAME");
  if (has_bundle && !flags.objects.empty())
    return fail(ErrorKind::invalid,
                "KIND/NAME cannot be used together with -f, -k, --chart or --name: give one of them");
  return {};
}

Task<int> take_out(RealLoop& loop, const Invocation& invocation, const DeleteFlags& flags, CancelSource& stop) {
  Result<removal::Options> options = options_of(flags);
  if (!options) {
    report(options.error());
    co_return kUsage;
  }
  bool has_manifests = has_sources(invocation, flags.sources);
  if (Result<void> checked = check(flags, has_manifests); !checked) {
    report(std::move(checked).error().next("fairlead delete --help"));
    co_return kUsage;
  }
  Result<report::Settings> settings = output_settings(flags.output, invocation.globals);
  if (!settings) {
    report(settings.error());
    co_return kUsage;
  }
  std::string name = bundle_name(flags.name, flags.sources);
  auto journal = RunJournal::open(loop.clock(), flags.files);
  if (!journal) co_return report(journal.error());
  std::optional<manifest::Bundle> bundle;
  if (has_manifests) {
    auto read = co_await read_sources(loop, invocation, flags.sources,
                                      {.name = name, .timeout = options->timeout, .stop = &stop});
    if (!read) co_return read.error();
    bundle = *std::move(read);
  }
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, invocation.globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  options->default_namespace = (*cluster)->default_namespace();
  options->namespace_is_chosen = !invocation.globals.namespace_name.empty();
  settings->may_draw = [&cluster] { return (*cluster)->requests() > 0; };
  report::RemovalReport shown(loop, (*journal)->journal(), *std::move(settings), options->dry_run);
  if (can_ask() && !flags.yes)
    options->ask = [&](std::string text) {
      std::string place = fmt::format("{}, namespace {}: ", (*cluster)->text(), options->default_namespace);
      return ask_aside(loop, shown.display(), place + text).governed_by(&stop);
    };
  (*journal)->journal().read_by([&](const journal::Event& event) { shown.read(event); }, shown.detail());
  kube::Client& client = (*cluster)->client();
  kube::Discovery& discovery = (*cluster)->discovery();
  if (!bundle && !name.empty() && !flags.no_hooks && !flags.cluster_gone) {
    Result<manifest::Bundle> kept =
        co_await read_kept_hooks(client, discovery, name, options->default_namespace).governed_by(&stop);
    if (!kept) {
      shown.display().stop();
      co_await (*cluster)->close();
      co_return (*journal)->close(report(stop.cancelled() ? cancelled_error() : kept.error()));
    }
    if (!kept->objects.empty()) bundle = *std::move(kept);
  }
  std::optional<DeletionHooks> hooks;
  if (bundle && !flags.no_hooks) {
    hooks.emplace(client, discovery, *bundle, *options, (*journal)->journal(), &stop);
    options->ask = hooks->asking(options->ask);
  }
  Ending ending;
  if (!name.empty())
    ending = co_await removal::take_out_bundle(client, discovery, name, *options, (*journal)->journal(), &stop);
  else if (bundle)
    ending = co_await removal::take_out_manifests(client, discovery, *bundle, *options, (*journal)->journal(), &stop);
  else
    ending = co_await removal::take_out_named(client, discovery, flags.objects, *options, (*journal)->journal(), &stop);
  if (hooks) co_await hooks->finish(ending);
  shown.finish(ending);
  co_await (*cluster)->close();
  co_return (*journal)->close(exit_code(ending.how));
}

void add_flags(Command command, DeleteFlags& flags) {
  command.option("objects", flags.objects, "Objects to delete, such as deployment/web").value("KIND/NAME");
  add_source_flags(command, flags.sources);
  Flag name =
      command.option("--name", flags.name, "Delete all objects of this bundle, and its inventory").value("NAME");
  command
      .flag("--with-contents", flags.with_contents,
            "Delete namespaces and CRDs even if they contain objects of others; never objects of other bundles")
      .needs(name);
  add_timeout_flag(command, flags.timeout);
  add_timeout_for_flag(command, flags.timeout_for);
  command.flag("--no-wait", flags.no_wait, "Do not wait until objects are deleted");
  command
      .option("--cascade", flags.cascade,
              "Delete owned objects after their owner (background), before it (foreground), or not at all (orphan)")
      .one_of({"background", "foreground", "orphan"})
      .show_default();
  command
      .option("--dry-run", flags.dry_run, "Show what would be deleted; with `server`, the API server checks it as well")
      .one_of({"none", "client", "server"});
  command.flag("-y,--yes", flags.yes, "Do not ask for confirmation");
  command.flag("--force", flags.force, "Also delete objects of other bundles and in kube-system");
  command.flag("--force-finalizers", flags.force_finalizers,
               "Remove the finalizers of stuck objects, without the cleanup that they wait for");
  command.flag("--no-hooks", flags.no_hooks, "Do not run the hooks of Helm that belong to the deletion");
  command.flag("--cluster-gone", flags.cluster_gone, "Treat a cluster that cannot be reached as deleted");
  add_output_flags(command, flags.output);
  add_journal_flags(command, flags.files);
}

}  // namespace

void add_delete(Command app, Invocation& invocation) {
  auto flags = std::make_shared<DeleteFlags>();
  Command command = app.subcommand("delete", "Delete objects in the order that finalizers and webhooks need");
  add_flags(command, *flags);
  command.footer(
      "Examples:\n"
      "  fairlead delete -f k8s/\n"
      "  fairlead delete --name shop\n"
      "  fairlead delete --name shop --chart ./chart         # with the chart's hooks for deletion\n"
      "  fairlead delete namespace/team-a --timeout-for Namespace=5m\n\n"
      "Exit codes: 0 deleted, 1 failed, 3 timed out, 64 invalid command line, 130 interrupted.");
  command.when_chosen([&invocation, flags] {
    invocation.run = [&invocation, flags] {
      return run_interruptibly(
          [&](RealLoop& loop, CancelSource& stop) { return take_out(loop, invocation, *flags, stop); });
    };
  });
}

}  // namespace fairlead::cli
