#include "rollout/prune.h"

#include <algorithm>
#include <map>

#include "base/scope.h"
#include "readiness/timeouts.h"

namespace fairlead::rollout {
namespace {

using inventory::Member;
using journal::What;

// What goes first has the lowest number: whoever removes a finalizer, or admits the update that does, outlives what
// carries it.
int turn_of(const object::Key& key) {
  if (key.group == "admissionregistration.k8s.io") return 2;
  if (key.group == "apiextensions.k8s.io") return 5;
  if (key.group.empty() && key.kind == "Namespace") return 6;
  bool is_custom = key.group.find('.') != std::string::npos && !key.group.ends_with(".k8s.io");
  if (is_custom) return 0;
  if (key.group == "apps" || key.group == "batch" || key.group == "apiregistration.k8s.io") return 3;
  return 4;
}

struct Work {
  kube::Client& client;
  kube::Discovery& discovery;
  journal::Journal& journal;
  const Options& options;
  Pruned result;
};

Task<Result<void>> remove(Work& work, const Member& member) {
  auto resource = co_await work.discovery.find(member.key.group, member.version, member.key.kind);
  if (!resource) co_return fail(resource.error().error());
  if (!*resource) co_return Result<void>();
  auto removed = co_await work.client.remove(**resource, member.key.ns, member.key.name,
                                             {.uid = member.uid, .propagation = "Background"});
  if (!removed && removed.error().is(kube::FaultKind::not_found)) co_return Result<void>();
  if (!removed) co_return fail(removed.error().error());
  for (Duration pause = std::chrono::milliseconds(100);;
       pause = std::min(pause * 2, Duration(std::chrono::seconds(5)))) {
    auto there = co_await work.client.get(**resource, member.key.ns, member.key.name);
    if (!there && there.error().is(kube::FaultKind::not_found)) co_return Result<void>();
    if (there && there->value["metadata"]["uid"].string_or("") != member.uid) co_return Result<void>();
    CO_TRY(co_await sleep_for(work.client.loop(), pause));
  }
}

Task<void> prune_one(Work& work, const Member& member) {
  Duration limit = readiness::default_timeouts(member.key.group, member.key.kind).deletion;
  Result<void> gone = co_await with_deadline(work.client.loop(), work.client.loop().now() + limit,
                                             fmt::format("{} is still there", member.key.text()), remove(work, member));
  if (!gone) {
    work.result.errors.push_back(
        Error(gone.error().kind(), fmt::format("{} was not removed", member.key.text())).because(gone.error()));
    co_return;
  }
  work.journal.add({.what = What::removed, .key = member.key, .state = "removed"});
  work.result.objects.push_back(
      {.key = member.key, .source = {}, .state = ObjectEnding::State::removed, .ready = true});
}

}  // namespace

Task<Pruned> prune(kube::Client& client, kube::Discovery& discovery, journal::Journal& journal,
                   const Prepared& prepared, const Options& options) {
  std::map<int, std::vector<const Member*>> turns;
  for (const Member& member : prepared.members) {
    bool is_wanted = std::ranges::any_of(prepared.bundle.objects,
                                         [&](const object::Object& object) { return object.key() == member.key; });
    if (!is_wanted) turns[turn_of(member.key)].push_back(&member);
  }
  Work work{client, discovery, journal, options, {}};
  for (const auto& [turn, members] : turns) {
    if (options.dry_run) {
      for (const Member* member : members)
        journal.add({.what = What::note, .key = member->key, .text = "would be removed"});
      continue;
    }
    if (!work.result.errors.empty()) break;
    Scope scope(client.loop(), nullptr);
    for (const Member* member : members) scope.spawn(prune_one(work, *member));
    co_await scope.join();
  }
  co_return std::move(work.result);
}

}  // namespace fairlead::rollout
