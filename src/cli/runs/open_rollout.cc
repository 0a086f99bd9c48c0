#include "cli/runs/open_rollout.h"

#include "cli/core/error_report.h"
#include "cli/input/selection.h"

namespace fairlead::cli {

Task<std::expected<manifest::Bundle, int>> read_rollout(RealLoop& loop, const Invocation& invocation,
                                                        const RolloutFlags& flags, const rollout::Options& options,
                                                        CancelSource& stop) {
  auto bundle = co_await read_sources(loop, invocation, flags.sources,
                                      {.name = options.name, .timeout = options.timeout, .stop = &stop});
  if (!bundle) co_return std::unexpected(bundle.error());
  if (Result<void> selected = select(*bundle, flags.only, flags.skip); !selected)
    co_return std::unexpected(report(selected.error()));
  co_return *std::move(bundle);
}

Result<OpenRollout> connect_rollout(RealLoop& loop, const Globals& globals, const kube::Kubeconfig& kubeconfig,
                                    manifest::Bundle bundle, rollout::Options& options, journal::Journal& journal) {
  TRY_ASSIGN(std::unique_ptr<Cluster> cluster, Cluster::connect(loop, globals, kubeconfig, journal));
  options.default_namespace = cluster->default_namespace();
  options.namespace_is_chosen = !globals.namespace_name.empty();
  return OpenRollout{.bundle = std::move(bundle), .cluster = std::move(cluster)};
}

Task<std::expected<OpenRollout, int>> open_rollout(RealLoop& loop, const Invocation& invocation,
                                                   const RolloutFlags& flags, rollout::Options& options,
                                                   journal::Journal& journal, CancelSource& stop) {
  auto bundle = co_await read_rollout(loop, invocation, flags, options, stop);
  if (!bundle) co_return std::unexpected(bundle.error());
  Result<kube::Kubeconfig> kubeconfig = read_kubeconfig(invocation.globals);
  if (!kubeconfig) co_return std::unexpected(report(kubeconfig.error()));
  Result<OpenRollout> opened =
      connect_rollout(loop, invocation.globals, *kubeconfig, *std::move(bundle), options, journal);
  if (!opened) co_return std::unexpected(report(opened.error()));
  co_return *std::move(opened);
}

}  // namespace fairlead::cli
