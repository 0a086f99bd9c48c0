#include "removal/internal/orphans.h"

#include <algorithm>

#include "base/timestamp.h"
#include "object/containers.h"
#include "removal/diagnosis/namespaced_kinds.h"
#include "removal/refusal.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;

// Twice the interval of the garbage collector, and as much again for clocks that differ.
constexpr Duration kNew = std::chrono::minutes(2);
constexpr size_t kFewPlaces = 3;

}  // namespace

bool Orphans::is_new(NodeId definition) const {
  std::optional<WallTime> made =
      parse_timestamp(run_.state(definition).last["metadata"]["creationTimestamp"].string_or(""));
  return made && run_.loop().clock().wall_now() - *made < kNew;
}

bool Orphans::is_gone(NodeId target) const { return run_.state(target).state == ObjectEnding::State::gone; }

void Orphans::note_owners(const Tracker& tracker) {
  if (run_.options().dry_run != DryRun::none || run_.options().cascade == Cascade::orphan) return;
  for (NodeId i : run_.ids()) {
    if (!is_crd(run_.key(i)) || run_.state(i).last.is_null() || !is_new(i)) continue;
    const kube::Watched* instances = tracker.instances_of(i);
    if (!instances) continue;
    for (const auto& [place, object] : instances->objects())
      owners_.emplace(object["metadata"]["uid"].string_or(""), Owner{.key = {.group = instances->resource().group,
                                                                             .kind = instances->resource().kind,
                                                                             .ns = place.first,
                                                                             .name = place.second},
                                                                     .definition = i});
  }
}

std::set<std::string> Orphans::places() const {
  std::set<std::string> names;
  for (const auto& [uid, owner] : owners_) {
    if (!is_gone(owner.definition)) continue;
    if (owner.key.ns.empty()) return {""};
    auto around = run_.find(object::namespace_key(owner.key.ns));
    if (!around || !is_gone(*around)) names.insert(owner.key.ns);
  }
  return names.size() > kFewPlaces ? std::set<std::string>{""} : names;
}

Task<void> Orphans::remove() {
  std::set<std::string> where = places();
  if (where.empty()) co_return;
  std::vector<object::Resource> kinds = namespaced_kinds(discovery_.known()).kinds;
  for (object::Resource& kind : supporting_kinds(discovery_.known())) kinds.push_back(std::move(kind));
  std::erase_if(kinds, [this](const object::Resource& kind) {
    auto definition = run_.find(object::crd_key(kind.name_with_group()));
    return definition && is_gone(*definition);
  });
  Scope scope(run_.loop(), co_await current_cancel());
  for (const object::Resource& kind : kinds)
    for (const std::string& ns : where) scope.spawn(look_at(kind, ns));
  co_await scope.join();
}

const Orphans::Owner* Orphans::owner_of(const Json& object) const {
  const Owner* one = nullptr;
  for (const Json& reference : object["metadata"]["ownerReferences"].items()) {
    auto found = owners_.find(reference["uid"].string_or(""));
    if (found == owners_.end() || !is_gone(found->second.definition)) return nullptr;
    one = &found->second;
  }
  return one;
}

Task<void> Orphans::look_at(object::Resource resource, std::string ns) {
  // A kind that cannot be listed is skipped.
  auto list = co_await client_.list(resource, {.ns = ns, .metadata_only = true});
  if (!list) co_return;
  for (const Json& object : list->items)
    if (const Owner* owner = owner_of(object);
        owner && !object["metadata"].contains("deletionTimestamp") && !is_protected(object))
      co_await remove(resource, object, *owner);
}

Task<void> Orphans::remove(const object::Resource& resource, const Json& object, const Owner& owner) {
  const Json& metadata = object["metadata"];
  object::Key key{.group = resource.group,
                  .kind = resource.kind,
                  .ns = std::string(metadata["namespace"].string_or("")),
                  .name = std::string(metadata["name"].string_or(""))};
  auto removed =
      co_await client_
          .remove(resource, key.ns, key.name,
                  {.uid = std::string(metadata["uid"].string_or("")), .propagation = "Background", .dry_run = false})
          .governed_by(&run_.halt().requests());
  std::string why = fmt::format("{}, which owned it, was deleted", owner.key.text());
  if (removed)
    run_.add_event({.kind = EventKind::removed, .key = std::move(key), .state = "gone", .text = std::move(why)});
  else if (!removed.error().is(kube::FaultKind::not_found) && !removed.error().is(kube::FaultKind::conflict))
    run_.add_event({.kind = EventKind::warning,
                    .key = std::move(key),
                    .state = "left",
                    .text = why + "; nothing else will delete it, and it could not be deleted",
                    .error = removed.error().error()});
}

}  // namespace fairlead::removal
