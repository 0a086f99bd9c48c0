#include "rollout/internal/closer_look.h"

#include <algorithm>

#include "readiness/closer_look.h"
#include "rollout/guards/missing.h"
#include "rollout/guards/root_causes.h"

namespace fairlead::rollout {
namespace {

constexpr size_t kObjectsPerCause = 2;

Task<Result<void>> look_at_all(kube::Client& client, const Run& run, Ending& ending) {
  std::vector<RootCause> roots = root_causes(run);
  size_t looked_at = 0;
  for (size_t i = 0; i < std::min(roots.size(), ending.causes.size()); ++i) {
    if (roots[i].not_ready.empty() || looked_at++ >= readiness::kCausesLookedAt) continue;
    for (size_t n = 0; n < std::min(roots[i].not_ready.size(), kObjectsPerCause); ++n) {
      NodeId node = roots[i].not_ready[n];
      std::vector<journal::Finding> found = co_await readiness::look_closer(
          client, {.key = run.object(node).key(), .object = as_stored(run, node), .since = run.begun_at_server()});
      for (journal::Finding& finding : found) ending.causes[i].findings.push_back(std::move(finding));
    }
  }
  co_return Result<void>();
}

}  // namespace

Task<void> look_closer(kube::Client& client, const Run& run, Ending& ending) {
  if (run.errors().empty() || run.halt().interrupted() || run.options().dry_run) co_return;
  (void)co_await with_deadline(run.loop(), run.loop().now() + readiness::kLookTime, "the closer look took too long",
                               look_at_all(client, run, ending));
}

}  // namespace fairlead::rollout
