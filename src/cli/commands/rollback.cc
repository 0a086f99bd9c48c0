#include "cli/commands/rollback.h"

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/output/output_flags.h"
#include "cli/output/run_journal.h"
#include "cli/runs/rollout_flags.h"
#include "cli/runs/timeouts.h"
#include "inventory/holder.h"
#include "report/rollout_report.h"
#include "status/status.h"

namespace fairlead::cli {
namespace {

struct RollbackFlags {
  std::string name;
  int64_t revision = 0;
  bool current_secrets = false;
  bool keep_secrets = false;
  bool force_conflicts = false;
  bool no_wait = false;
  std::string dry_run = "none";
  std::string timeout = "15m";
  std::vector<std::string> timeout_for;
  OutputFlags output;
  RunJournal::Files files;
};

Task<Result<Former>> read(Cluster& cluster, journal::Journal& journal, const inventory::Inventory& inventory,
                          history::Revision revision, history::OtherValues other) {
  auto kept = co_await history::read_revision(cluster.client(), inventory, revision);
  if (!kept) co_return fail(kept.error());
  auto restored = co_await history::restore(cluster.client(), *std::move(kept), other, inventory.label_value());
  if (!restored)
    co_return fail(Error(restored.error())
                       .in(fmt::format("bundle {} cannot go back to revision {}", inventory.name(), revision.number)));
  for (std::string& warning : restored->warnings)
    journal.add({.kind = journal::EventKind::warning, .text = std::move(warning)});
  co_return Former{.revision = std::move(revision), .bundle = {.objects = std::move(restored->objects)}};
}

// The newest revision that was done, to go back to after a run that failed.
Task<Result<Former>> read_last_done(Cluster& cluster, journal::Journal& journal, std::string name) {
  auto inventory =
      co_await status::open_bundle(cluster.client(), cluster.discovery(), name, cluster.default_namespace());
  if (!inventory) co_return fail(inventory.error());
  for (const history::Revision& one : history::revisions_of(**inventory))
    if (one.is_done() && one.chunks > 0)
      co_return co_await read(cluster, journal, **inventory, one, history::OtherValues::keep);
  co_return fail(Error(ErrorKind::not_found, fmt::format("bundle {} has no revision to go back to", name))
                     .because("no earlier run of it was done, or their manifests are not kept"));
}

// True if the run failed after it had changed something.
bool is_to_be_undone(const rollout::Ending& ending) {
  using How = rollout::Ending::How;
  using State = rollout::ObjectEnding::State;
  if (ending.how == How::done || ending.how == How::interrupted) return false;
  return std::ranges::any_of(ending.objects, [](const rollout::ObjectEnding& object) {
    return object.state == State::created || object.state == State::changed || object.state == State::removed ||
           object.state == State::not_ready;
  });
}

Result<rollout::Options> options_of(const RollbackFlags& flags) {
  rollout::Options options;
  options.name = flags.name;
  options.prune = true;
  options.force_conflicts = flags.force_conflicts;
  options.keep_secrets = flags.keep_secrets;
  options.dry_run = flags.dry_run == "server";
  options.wait = !flags.no_wait;
  inventory::sign(options);
  TRY(inventory::check_name(flags.name));
  TRY_ASSIGN(options.timeout, read_duration("--timeout", flags.timeout));
  TRY_ASSIGN(options.timeout_for, read_timeouts(flags.timeout_for, "fairlead rollback … --timeout-for Job=30m"));
  return options;
}

Task<int> roll_back(RealLoop& loop, const Globals& globals, const RollbackFlags& flags, CancelSource& stop) {
  Result<rollout::Options> options = options_of(flags);
  if (!options) co_return report_usage_error(options.error());
  Result<report::Settings> settings = output_settings(flags.output, globals);
  if (!settings) co_return report_usage_error(settings.error());
  auto journal = RunJournal::open(loop.clock(), flags.files);
  if (!journal) co_return report(journal.error());
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  settings->may_draw = [&cluster] { return (*cluster)->requests() > 0; };
  report::RolloutReport shown(loop, (*journal)->journal(), *std::move(settings), options->dry_run);
  (*journal)->journal().read_by([&](const journal::Event& event) { shown.read(event); }, shown.detail());
  auto other = flags.current_secrets ? history::OtherValues::keep : history::OtherValues::refuse;
  Result<Former> former =
      co_await read_former(**cluster, (*journal)->journal(), flags.name, flags.revision, other).governed_by(&stop);
  if (!former) {
    shown.display().stop();
    co_await (*cluster)->close();
    co_return (*journal)->close(report(stop.cancelled() ? cancelled_error() : former.error()));
  }
  options->default_namespace = (*cluster)->default_namespace();
  options->note = fmt::format("rollback to revision {}", former->revision.number);
  (*journal)->journal().add({.kind = journal::EventKind::note,
                             .text = fmt::format("bundle {} goes back to revision {} of {}", flags.name,
                                                 former->revision.number, former->revision.when)});
  rollout::Ending ending =
      co_await rollout::roll_out((*cluster)->client(), (*cluster)->discovery(), std::move(former->bundle),
                                 *std::move(options), (*journal)->journal(), &stop);
  shown.finish(ending);
  co_await (*cluster)->close();
  co_return (*journal)->close(exit_code(ending.how));
}

void add_flags(Command command, RollbackFlags& flags) {
  command.option("NAME", flags.name, "The bundle's name").required().value("");
  command.option("REVISION", flags.revision, "A revision of `fairlead history`; by default the last that differs")
      .positive()
      .value("");
  command.flag("--current-secrets", flags.current_secrets,
               "Keep the values that Secrets have in the cluster, where those of the revision were not kept");
  command.flag("--keep-secrets", flags.keep_secrets, "Keep the values of Secrets in the bundle's history");
  command.flag("--force-conflicts", flags.force_conflicts,
               "Take over fields of other field managers; never those of objects of other bundles");
  command.flag("--no-wait", flags.no_wait, "Do not wait until objects are ready");
  command.option("--dry-run", flags.dry_run, "With `server`, the API server checks everything and stores nothing")
      .one_of({"none", "server"});
  add_timeout_flag(command, flags.timeout);
  add_timeout_for_flag(command, flags.timeout_for);
  add_output_flags(command, flags.output);
  add_journal_flags(command, flags.files);
}

}  // namespace

Task<Result<Former>> read_former(Cluster& cluster, journal::Journal& journal, std::string name, int64_t number,
                                 history::OtherValues other) {
  auto inventory =
      co_await status::open_bundle(cluster.client(), cluster.discovery(), name, cluster.default_namespace());
  if (!inventory) co_return fail(inventory.error());
  CO_TRY_ASSIGN(history::Revision revision,
                history::revision_to_go_back_to(history::revisions_of(**inventory), number, name));
  co_return co_await read(cluster, journal, **inventory, std::move(revision), other);
}

Task<void> go_back_after_failure(Cluster& cluster, rollout::Options options, const rollout::Ending& failed,
                                 report::Settings settings, CancelSource* stop) {
  if (!is_to_be_undone(failed) || options.dry_run) co_return;
  // Programs get one document: that of the run which failed.
  if (settings.format != report::Format::text) settings.format = report::Format::quiet;
  Loop& loop = cluster.client().loop();
  journal::Journal journal(loop.clock());
  report::RolloutReport shown(loop, journal, std::move(settings), false);
  journal.read_by([&](const journal::Event& event) { shown.read(event); }, shown.detail());
  Result<Former> former = co_await read_last_done(cluster, journal, options.name).governed_by(stop);
  if (!former) {
    shown.display().stop();
    report(Error(former.error()).in("the run cannot be undone"));
    co_return;
  }
  journal.add({.kind = journal::EventKind::note,
               .text = fmt::format("bundle {} goes back to revision {} of {}", options.name, former->revision.number,
                                   former->revision.when)});
  options.prune = true;
  options.is_partial = false;
  options.run += "-back";
  options.note = fmt::format("rollback to revision {}, after a run that {}", former->revision.number,
                             failed.how == rollout::Ending::How::timed_out ? "timed out" : "failed");
  rollout::Ending ending = co_await rollout::roll_out(cluster.client(), cluster.discovery(), std::move(former->bundle),
                                                      std::move(options), journal, stop);
  shown.finish(ending);
}

void add_rollback(Command app, Invocation& invocation) {
  auto flags = std::make_shared<RollbackFlags>();
  Command command = app.subcommand("rollback", "Apply an earlier revision of a bundle again");
  add_flags(command, *flags);
  command.footer(
      "Examples:\n"
      "  fairlead rollback shop\n"
      "  fairlead rollback shop 3 -n team-a\n\n"
      "It is an apply of the manifests of that revision with --prune, and makes a new revision. Exit codes: 0 done,\n"
      "1 failed, 3 timed out, 4 conflicts, 64 invalid command line, 130 interrupted.");
  run_when_chosen(command, invocation, [&invocation, flags](RealLoop& loop, CancelSource& stop) {
    return roll_back(loop, invocation.globals, *flags, stop);
  });
}

}  // namespace fairlead::cli
