#include "removal/internal/closer_look.h"

#include <set>

#include "async/scope.h"
#include "base/timestamp.h"
#include "readiness/closer_look.h"

namespace fairlead::removal {
namespace {

// Returns when somebody asked for the deletion: the timestamp says when the time to end in peace is over.
WallTime deleted_at(const Json& object) {
  const Json& metadata = object["metadata"];
  std::optional<WallTime> end = parse_timestamp(metadata["deletionTimestamp"].string_or(""));
  return end ? *end - std::chrono::seconds(metadata["deletionGracePeriodSeconds"].int_or(0)) : WallTime::min();
}

object::Key key_of(const Json& object) {
  std::string_view version = object["apiVersion"].string_or("");
  size_t slash = version.find('/');
  const Json& metadata = object["metadata"];
  return {.group = std::string(slash == std::string_view::npos ? "" : version.substr(0, slash)),
          .kind = std::string(object["kind"].string_or("")),
          .ns = std::string(metadata["namespace"].string_or("")),
          .name = std::string(metadata["name"].string_or(""))};
}

// Returns what there is to look at for one target. What holds a deletion up may have been broken long before.
std::vector<readiness::LookedAt> objects_of(const Run& run, NodeId target) {
  const TargetState& entry = run.state(target);
  std::vector<readiness::LookedAt> all;
  for (const Json& suspect : entry.suspects) all.push_back({.key = key_of(suspect), .object = suspect});
  all.push_back({.key = run.key(target), .object = entry.last, .since = deleted_at(entry.last)});
  return all;
}

Task<Result<void>> look_at_all(kube::Client& client, const Run& run, Ending& ending) {
  std::set<object::Key> seen;
  size_t looked_at = 0;
  size_t cause = 0;
  for (NodeId i : run.ids()) {
    const TargetState& entry = run.state(i);
    if (entry.spared || !entry.error) continue;
    // Each target that failed has a cause, in the same order.
    Cause& its = ending.causes[cause++];
    if (entry.state != ObjectEnding::State::remains || looked_at++ >= readiness::kCausesLookedAt) continue;
    for (readiness::LookedAt& object : objects_of(run, i)) {
      if (!seen.insert(object.key).second) continue;
      for (journal::Finding& finding : co_await readiness::look_closer(client, std::move(object)))
        its.findings.push_back(std::move(finding));
    }
  }
  co_return Result<void>();
}

}  // namespace

Task<void> look_closer(kube::Client& client, const Run& run, Ending& ending) {
  if (ending.causes.empty() || run.halt().interrupted() || run.options().dry_run != DryRun::none) co_return;
  (void)co_await with_deadline(run.loop(), run.loop().now() + readiness::kLookTime, "the closer look took too long",
                               look_at_all(client, run, ending));
}

}  // namespace fairlead::removal
