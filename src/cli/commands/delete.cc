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
#include "cli/runs/fleet.h"
#include "cli/runs/timeouts.h"
#include "inventory/holder.h"
#include "report/removal_report.h"

namespace fairlead::cli {
namespace {

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
  FleetFlags fleet;
};

removal::Cascade cascade_of(const std::string& name) {
  if (name == "foreground") return removal::Cascade::foreground;
  return name == "orphan" ? removal::Cascade::orphan : removal::Cascade::background;
}

removal::DryRun dry_run_of(const std::string& name) {
  if (name == "client") return removal::DryRun::client;
  return name == "server" ? removal::DryRun::server : removal::DryRun::none;
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
  inventory::sign(options);
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
  if (!flags.fleet.is_given()) return {};
  if (!flags.files.timeline.empty()) return fail(not_in_a_fleet("--timeline"));
  // Nobody can answer for several clusters at a time.
  if (can_ask() && !flags.yes && flags.dry_run == "none")
    return fail(Error(ErrorKind::invalid, "--contexts deletes in several clusters and does not ask: it needs --yes")
                    .next("fairlead delete … --contexts … --dry-run client shows what would be deleted"));
  return {};
}

// What the command line asks for, checked.
struct Request {
  removal::Options options;
  report::Settings settings;
  std::string name;  // of the bundle; may be empty
  bool has_manifests = false;
};

Result<Request> request_of(const Invocation& invocation, const DeleteFlags& flags) {
  Request request;
  TRY_ASSIGN(request.options, options_of(flags));
  request.has_manifests = has_sources(invocation, flags.sources);
  if (Result<void> checked = check(flags, request.has_manifests); !checked) {
    if (!checked.error().next().empty()) return fail(checked.error());
    return fail(std::move(checked).error().next("fairlead delete --help"));
  }
  TRY_ASSIGN(request.settings, output_settings(flags.output, invocation.globals));
  request.name = bundle_name(flags.name, flags.sources);
  return request;
}

// The removal in a cluster that the process is connected to.
class Deletion {
 public:
  Deletion(RealLoop& loop, Cluster& cluster, const DeleteFlags& flags, Request request, journal::Journal& journal,
           CancelSource& stop)
      : loop_(loop),
        cluster_(cluster),
        flags_(flags),
        options_(std::move(request.options)),
        name_(std::move(request.name)),
        journal_(journal),
        stop_(stop),
        shown_(loop, journal, with_drawing(std::move(request.settings)), options_.dry_run) {
    journal.read_by([this](const journal::Event& event) { shown_.read(event); }, shown_.detail());
  }

  // The bundle is what the manifests say, if there are any.
  Task<ClusterEnding> execute(std::optional<manifest::Bundle> bundle, bool namespace_is_chosen) {
    options_.default_namespace = cluster_.default_namespace();
    options_.namespace_is_chosen = namespace_is_chosen;
    if (can_ask() && !flags_.yes) options_.ask = [this](std::string text) { return ask_aside(std::move(text)); };
    if (!bundle && !name_.empty() && !flags_.no_hooks && !flags_.cluster_gone) {
      Result<manifest::Bundle> kept = co_await read_kept_hooks();
      if (!kept) {
        shown_.display().stop();
        Error error = stop_.cancelled() ? cancelled_error() : kept.error();
        report(error);
        co_return ClusterEnding{.how = outcome_of(error)};
      }
      if (!kept->objects.empty()) bundle = *std::move(kept);
    }
    std::optional<DeletionHooks> hooks;
    if (bundle && !flags_.no_hooks) {
      hooks.emplace(cluster_.client(), cluster_.discovery(), *bundle, options_, journal_, &stop_);
      options_.ask = hooks->asking(options_.ask);
    }
    removal::Ending ending = co_await take_out(bundle);
    if (hooks) co_await hooks->finish(ending);
    shown_.finish(ending);
    co_return ClusterEnding{.how = ending.how, .totals = report::totals_text(ending)};
  }

 private:
  static journal::Outcome outcome_of(const Error& error) {
    if (error.root().kind() == ErrorKind::cancelled) return journal::Outcome::interrupted;
    return error.kind() == ErrorKind::timeout ? journal::Outcome::timed_out : journal::Outcome::failed;
  }

  // Nothing is drawn before the cluster was asked for something, as a plugin may ask for a password.
  report::Settings with_drawing(report::Settings settings) {
    settings.may_draw = [this] { return cluster_.requests() > 0; };
    return settings;
  }

  // Asks on the terminal, without the live view in the way.
  Task<bool> ask_aside(std::string text) {
    std::string place = fmt::format("{}, namespace {}: ", cluster_.text(), options_.default_namespace);
    shown_.display().pause();
    bool is_wanted = co_await ask(loop_, place + text).governed_by(&stop_);
    shown_.display().resume();
    co_return is_wanted;
  }

  Task<Result<manifest::Bundle>> read_kept_hooks() {
    return cli::read_kept_hooks(cluster_.client(), cluster_.discovery(), name_, options_.default_namespace)
        .governed_by(&stop_);
  }

  Task<removal::Ending> take_out(const std::optional<manifest::Bundle>& bundle) {
    kube::Client& client = cluster_.client();
    kube::Discovery& discovery = cluster_.discovery();
    if (!name_.empty()) return removal::take_out_bundle(client, discovery, name_, options_, journal_, &stop_);
    if (bundle) return removal::take_out_manifests(client, discovery, *bundle, options_, journal_, &stop_);
    return removal::take_out_named(client, discovery, flags_.objects, options_, journal_, &stop_);
  }

  RealLoop& loop_;
  Cluster& cluster_;
  const DeleteFlags& flags_;
  removal::Options options_;
  std::string name_;
  journal::Journal& journal_;
  CancelSource& stop_;
  report::RemovalReport shown_;
};

// Returns nothing if the command line names no manifests. Reports what fails, and then returns the exit code.
Task<std::expected<std::optional<manifest::Bundle>, int>> read_manifests(RealLoop& loop, const Invocation& invocation,
                                                                         const DeleteFlags& flags,
                                                                         const Request& request, CancelSource& stop) {
  if (!request.has_manifests) co_return std::optional<manifest::Bundle>();
  auto read = co_await read_sources(loop, invocation, flags.sources,
                                    {.name = request.name, .timeout = request.options.timeout, .stop = &stop});
  if (!read) co_return std::unexpected(read.error());
  co_return std::optional(*std::move(read));
}

// One of several clusters. A chart is rendered for each; other manifests have been read.
Task<ClusterEnding> take_out_of_member(RealLoop& loop, Invocation invocation, const DeleteFlags& flags, Request request,
                                       const std::optional<manifest::Bundle>* read, ClusterRun run,
                                       CancelSource& stop) {
  using journal::Outcome;
  invocation.globals = std::move(run.globals);
  request.settings = std::move(run.settings);
  std::expected<std::optional<manifest::Bundle>, int> bundle;
  if (read) bundle = *read;
  else bundle = co_await read_manifests(loop, invocation, flags, request, stop);
  if (!bundle) co_return ClusterEnding{.how = stop.cancelled() ? Outcome::interrupted : Outcome::failed};
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, invocation.globals, run.kubeconfig, run.journal);
  if (!cluster) co_return ClusterEnding{.how = Outcome::failed, .error = cluster.error()};
  Deletion deletion(loop, **cluster, flags, std::move(request), run.journal, stop);
  ClusterEnding ending = co_await deletion.execute(*std::move(bundle), !invocation.globals.namespace_name.empty());
  co_await (*cluster)->close();
  co_return ending;
}

Task<int> take_out_of_fleet(RealLoop& loop, const Invocation& invocation, const DeleteFlags& flags, Request request,
                            CancelSource& stop) {
  Result<Fleet> fleet = read_fleet(flags.fleet, invocation.globals, request.settings);
  if (!fleet) co_return report_usage_error(fleet.error());
  auto journal = RunJournal::open(loop.clock(), flags.files);
  if (!journal) co_return report(journal.error());
  std::optional<std::optional<manifest::Bundle>> bundle;
  if (!has_chart(invocation, flags.sources)) {
    auto read = co_await read_manifests(loop, invocation, flags, request, stop);
    if (!read) co_return (*journal)->close(read.error());
    bundle = *std::move(read);
  }
  auto run = [&](ClusterRun in) {
    return take_out_of_member(loop, invocation, flags, request, bundle ? &*bundle : nullptr, std::move(in), stop);
  };
  int code = co_await run_fleet(loop, *std::move(fleet), (*journal)->journal(), run, stop);
  co_return (*journal)->close(code);
}

Task<int> take_out(RealLoop& loop, const Invocation& invocation, const DeleteFlags& flags, CancelSource& stop) {
  Result<Request> request = request_of(invocation, flags);
  if (!request) co_return report_usage_error(request.error());
  if (flags.fleet.is_given()) co_return co_await take_out_of_fleet(loop, invocation, flags, *std::move(request), stop);
  auto journal = RunJournal::open(loop.clock(), flags.files);
  if (!journal) co_return report(journal.error());
  auto bundle = co_await read_manifests(loop, invocation, flags, *request, stop);
  if (!bundle) co_return bundle.error();
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, invocation.globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  Deletion deletion(loop, **cluster, flags, *std::move(request), (*journal)->journal(), stop);
  ClusterEnding ending = co_await deletion.execute(*std::move(bundle), !invocation.globals.namespace_name.empty());
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
  add_fleet_flags(command, flags.fleet);
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
  run_when_chosen(command, invocation, [&invocation, flags](RealLoop& loop, CancelSource& stop) {
    return take_out(loop, invocation, *flags, stop);
  });
}

}  // namespace fairlead::cli
