#include "cli/runs/planning.h"

#include "cli/core/ask.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/runs/rollout_flags.h"

namespace fairlead::cli {
namespace {

constexpr size_t kNamedChanges = 5;

Error changed_error(const std::vector<std::string>& changes, std::string what, std::string next) {
  std::string text;
  for (size_t i = 0; i < std::min(changes.size(), kNamedChanges); ++i) text += (i == 0 ? "" : "; ") + changes[i];
  if (changes.size() > kNamedChanges) text += fmt::format("; and {} more", changes.size() - kNamedChanges);
  return Error(ErrorKind::invalid, std::move(what)).because(std::move(text)).next(std::move(next));
}

// Makes the plan again. Returns what has changed since `before`, a sentence per change.
Task<Result<std::vector<std::string>>> changes_meanwhile(Cluster& cluster, const std::vector<PlanFile::Object>& before,
                                                         manifest::Bundle bundle, rollout::Options options,
                                                         journal::Journal& journal, CancelSource* stop) {
  journal::Journal own(cluster.loop().clock());
  own.hide(journal.secrets());
  report::PlanProgress progress(cluster.loop());
  own.read_by([&](const journal::Event& event) { progress.read(event); });
  rollout::Ending ending = co_await make_plan(cluster, std::move(bundle), std::move(options), own, stop);
  progress.stop();
  if (stop && stop->cancelled()) co_return fail(Error(ErrorKind::cancelled, "interrupted"));
  if (ending.how != rollout::Ending::How::done && !ending.causes.empty())
    co_return fail(Error(ending.causes.front().error).in("the plan can no longer be carried out"));
  co_return changes_since(before, planned_objects(ending));
}

}  // namespace

report::PlanPlace place_of(const Cluster& cluster, const rollout::Options& options) {
  return {.bundle = options.name,
          .ns = options.default_namespace,
          .context = cluster.context(),
          .server = cluster.server()};
}

Task<rollout::Ending> make_plan(Cluster& cluster, manifest::Bundle bundle, rollout::Options options,
                                journal::Journal& journal, CancelSource* stop) {
  options.dry_run = true;
  co_return co_await rollout::roll_out(cluster.client(), cluster.discovery(), std::move(bundle), std::move(options),
                                       journal, stop);
}

Task<std::expected<bool, int>> confirm_plan(Cluster& cluster, manifest::Bundle bundle, rollout::Options options,
                                            journal::Journal& journal, bool yes, CancelSource* stop) {
  report::PlanPlace place = place_of(cluster, options);
  report::PlanReport shown(report::Format::text, place, {}, stderr);
  // A journal of its own: the events of a plan are no events of the run that follows.
  journal::Journal own(cluster.loop().clock());
  own.hide(journal.secrets());
  report::PlanProgress progress(cluster.loop());
  own.read_by([&](const journal::Event& event) {
    progress.read(event);
    shown.read(event);
  });
  options.digest_key = new_digest_key();
  rollout::Ending ending = co_await make_plan(cluster, bundle, options, own, stop);
  progress.stop();
  shown.finish(ending, true);
  if (ending.how != rollout::Ending::How::done) co_return std::unexpected(exit_code(ending.how));
  report::PlanCounts counts = report::counts_of(ending);
  if (yes || counts.changes() == 0) co_return true;
  bool answer = co_await ask(cluster.loop(), fmt::format("{}: {}.", place.text(), counts.text())).governed_by(stop);
  if (!answer) co_return std::unexpected(stop && stop->cancelled() ? int(kInterrupted) : int(kFailed));
  auto changes = co_await changes_meanwhile(cluster, planned_objects(ending), std::move(bundle), std::move(options),
                                            journal, stop);
  if (stop && stop->cancelled()) co_return std::unexpected(int(kInterrupted));
  if (!changes) co_return std::unexpected(report(changes.error()));
  if (changes->empty()) co_return true;
  co_return std::unexpected(
      report(changed_error(*changes, "the cluster has changed since the plan was shown, and nothing was applied",
                           "run it again to see the new plan")));
}

Task<Result<void>> check_plan(Cluster& cluster, const PlanFile& file, manifest::Bundle bundle, rollout::Options options,
                              journal::Journal& journal, CancelSource* stop) {
  if (file.server != cluster.server())
    co_return fail(Error(ErrorKind::invalid, fmt::format("the plan is for another cluster: {}", file.server))
                       .because(fmt::format("{} is {}", cluster.text(), cluster.server()))
                       .next(file.context.empty()
                                 ? "fairlead apply --plan FILE --server URL"
                                 : fmt::format("fairlead apply --plan FILE --context {}", file.context)));
  if (file.ns != options.default_namespace)
    co_return fail(Error(ErrorKind::invalid,
                         fmt::format("the plan is for namespace {}, not for {}", file.ns, options.default_namespace))
                       .next(fmt::format("fairlead apply --plan FILE --namespace {}", file.ns)));
  options.digest_key = file.digest_key;
  auto changes =
      co_await changes_meanwhile(cluster, file.objects, std::move(bundle), std::move(options), journal, stop);
  if (!changes) co_return fail(changes.error());
  if (!changes->empty())
    co_return fail(changed_error(*changes, "the plan is out of date, and nothing was applied",
                                 "fairlead plan … --out FILE makes a new one"));
  co_return Result<void>();
}

}  // namespace fairlead::cli
