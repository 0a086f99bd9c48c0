#include "cli/runs/planning.h"

#include "cli/core/ask.h"
#include "cli/core/exit_code.h"
#include "cli/runs/rollout_flags.h"

namespace fairlead::cli {
namespace {

constexpr size_t kNamedChanges = 5;

Error changed_error(const std::vector<std::string>& changes) {
  std::string text;
  for (size_t i = 0; i < std::min(changes.size(), kNamedChanges); ++i) text += (i == 0 ? "" : "; ") + changes[i];
  if (changes.size() > kNamedChanges) text += fmt::format("; and {} more", changes.size() - kNamedChanges);
  return Error(ErrorKind::invalid, "the plan is out of date, and nothing was applied")
      .because(std::move(text))
      .next("fairlead plan … --out FILE makes a new one");
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
  own.read_by([&](const journal::Event& event) { shown.read(event); });
  rollout::Ending ending = co_await make_plan(cluster, std::move(bundle), std::move(options), own, stop);
  shown.finish(ending, true);
  if (ending.how != rollout::Ending::How::done) co_return std::unexpected(exit_code(ending.how));
  report::PlanCounts counts = report::counts_of(ending);
  if (yes || counts.changes() == 0) co_return true;
  bool answer = co_await ask(cluster.loop(), fmt::format("{}: {}.", place.text(), counts.text())).governed_by(stop);
  if (answer) co_return true;
  co_return std::unexpected(stop && stop->cancelled() ? int(kInterrupted) : int(kFailed));
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
  journal::Journal own(cluster.loop().clock());
  own.hide(journal.secrets());
  rollout::Ending ending = co_await make_plan(cluster, std::move(bundle), std::move(options), own, stop);
  if (stop && stop->cancelled()) co_return fail(Error(ErrorKind::cancelled, "interrupted"));
  if (ending.how != rollout::Ending::How::done && !ending.causes.empty())
    co_return fail(Error(ending.causes.front().error).in("the plan can no longer be carried out"));
  std::vector<std::string> changes = changes_since(file.objects, planned_objects(ending));
  if (!changes.empty()) co_return fail(changed_error(changes));
  co_return Result<void>();
}

}  // namespace fairlead::cli
