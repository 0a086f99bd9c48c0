#include "rollout/prune.h"

#include <algorithm>
#include <unordered_set>

#include "removal/removal.h"

namespace fairlead::rollout {
namespace {

// What has gone meanwhile is as good as removed.
bool is_away(const removal::ObjectEnding& object) {
  using State = removal::ObjectEnding::State;
  return object.state == State::gone || object.state == State::absent;
}

}  // namespace

Task<Pruned> prune(kube::Client& client, kube::Discovery& discovery, journal::Journal& journal,
                   const Prepared& prepared, const Options& options, CancelSource* stop) {
  std::unordered_set<object::Key> wanted;
  for (const object::Object& object : prepared.bundle.objects) wanted.insert(object.key());
  std::vector<removal::Target> targets;
  for (const inventory::Member& member : prepared.members)
    if (!wanted.contains(member.key))
      targets.push_back({.key = member.key, .version = member.version, .source = {}, .uid = member.uid});
  if (targets.empty()) co_return Pruned();
  removal::Options how;
  how.dry_run = options.dry_run ? removal::DryRun::client : removal::DryRun::none;
  how.wait = options.wait;
  how.part_of = prepared.inventory->label_value();
  removal::Ending ending =
      co_await removal::take_out(client, discovery, std::move(targets), std::move(how), journal, stop);
  Pruned pruned;
  for (removal::ObjectEnding& object : ending.objects)
    if (is_away(object))
      pruned.objects.push_back(
          {.key = std::move(object.key), .source = {}, .state = ObjectEnding::State::removed, .ready = true});
  for (removal::Cause& cause : ending.causes) pruned.errors.push_back(std::move(cause.error));
  co_return pruned;
}

}  // namespace fairlead::rollout
