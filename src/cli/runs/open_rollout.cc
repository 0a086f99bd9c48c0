#include "cli/runs/open_rollout.h"

#include "cli/core/error_report.h"
#include "cli/input/selection.h"

namespace fairlead::cli {

Task<std::expected<OpenRollout, int>> open_rollout(RealLoop& loop, const Invocation& invocation,
                                                   const RolloutFlags& flags, rollout::Options& options,
                                                   journal::Journal& journal, CancelSource& stop) {
  auto bundle = co_await read_sources(loop, invocation, flags.sources,
                                      {.name = options.name, .timeout = options.timeout, .stop = &stop});
  if (!bundle) co_return std::unexpected(bundle.error());
  if (Result<void> selected = select(*bundle, flags.only, flags.skip); !selected)
    co_return std::unexpected(report(selected.error()));
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, invocation.globals, journal);
  if (!cluster) co_return std::unexpected(report(cluster.error()));
  options.default_namespace = (*cluster)->default_namespace();
  options.namespace_is_chosen = !invocation.globals.namespace_name.empty();
  co_return OpenRollout{.bundle = *std::move(bundle), .cluster = *std::move(cluster)};
}

}  // namespace fairlead::cli
