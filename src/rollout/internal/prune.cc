#include "rollout/internal/prune.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "diff/digest.h"
#include "inventory/applyset.h"
#include "object/containers.h"
#include "object/definition.h"
#include "removal/removal.h"

namespace fairlead::rollout {
namespace {

// An object that was deleted by somebody else counts as removed.
bool is_away(const removal::ObjectEnding& object) {
  using State = removal::ObjectEnding::State;
  return object.state == State::gone || object.state == State::absent || object.state == State::would_go;
}

// Finds objects of the bundle that would be deleted with an object that has left it: objects in a Namespace, instances
// of a CRD.
class Dependents {
 public:
  explicit Dependents(const manifest::Bundle& bundle) {
    for (const object::Object& object : bundle.objects) {
      if (!object.ns().empty()) in_namespace_.emplace(object.ns(), &object);
      of_kind_.emplace(std::pair(object.group(), object.kind()), &object);
    }
  }

  // Returns one of them; null if there is none.
  const object::Object* find(const inventory::Member& member) const {
    if (is_namespace(member.key)) {
      auto found = in_namespace_.find(member.key.name);
      return found == in_namespace_.end() ? nullptr : found->second;
    }
    if (!is_crd(member.key)) return nullptr;
    object::Definition definition(member.object);
    auto found = of_kind_.find({std::string(definition.group()), std::string(definition.kind())});
    return found == of_kind_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, const object::Object*> in_namespace_;
  std::map<std::pair<std::string, std::string>, const object::Object*> of_kind_;
};

bool is_home(const inventory::Member& member, const inventory::Inventory& inventory) {
  return member.key == object::namespace_key(inventory.home());
}

std::shared_ptr<const Forecast> forecast_of(const Prepared& prepared, const Options& options, const object::Key& key) {
  auto found = prepared.live.find(key);
  if (!options.dry_run || found == prepared.live.end()) return nullptr;
  diff::Look look = options.look;
  look.own_labels.emplace_back(inventory::kPartOfLabel);
  auto forecast = std::make_shared<Forecast>();
  forecast->action = Forecast::Action::remove;
  forecast->change = diff::change_of(*found->second, Json(), look);
  if (!options.digest_key.empty()) forecast->live_digest = diff::digest_of(*found->second, options.digest_key);
  return forecast;
}

}  // namespace

Task<Pruned> prune(kube::Client& client, kube::Discovery& discovery, journal::Journal& journal,
                   const Prepared& prepared, const Options& options, TimePoint expires, CancelSource* stop) {
  std::unordered_set<object::Key> wanted;
  for (const object::Object& object : prepared.bundle.objects) wanted.insert(object.key());
  std::vector<inventory::ForeignObject> foreign_objects = prepared.foreign_objects;
  std::erase_if(foreign_objects,
                [&](const inventory::ForeignObject& foreign_object) { return wanted.contains(foreign_object.key); });
  for (std::string& text : inventory::texts_of(foreign_objects))
    journal.add({.kind = journal::EventKind::warning, .state = "not ours", .text = std::move(text)});
  Dependents dependents(prepared.bundle);
  std::vector<removal::Target> targets;
  for (const inventory::Member& member : prepared.members) {
    // The home stays, since the bundle's record is in it. --create-namespace may have made it a member.
    if (wanted.contains(member.key) || is_home(member, *prepared.inventory)) continue;
    if (const object::Object* dependent = dependents.find(member)) {
      journal.add({.kind = journal::EventKind::warning,
                   .key = member.key,
                   .state = "stays",
                   .text = fmt::format("it left the bundle but is kept: {} would be deleted with it",
                                       dependent->key().text())});
      continue;
    }
    targets.push_back({.key = member.key, .version = member.version, .source = {}, .uid = member.uid});
  }
  if (targets.empty()) co_return Pruned();
  removal::Options how;
  how.dry_run = options.dry_run ? removal::DryRun::client : removal::DryRun::none;
  how.wait = options.wait;
  how.timeout = options.timeout;
  how.expires = expires;
  how.bundle = prepared.inventory->identity();
  how.with_contents = options.with_contents;
  removal::Ending ending =
      co_await removal::take_out(client, discovery, std::move(targets), std::move(how), journal, stop);
  Pruned pruned;
  for (removal::ObjectEnding& object : ending.objects)
    if (is_away(object))
      pruned.objects.push_back({.key = object.key,
                                .source = {},
                                .state = ObjectEnding::State::removed,
                                .ready = true,
                                .error = {},
                                .warnings = {},
                                .forecast = forecast_of(prepared, options, object.key)});
  pruned.causes = std::move(ending.causes);
  co_return pruned;
}

}  // namespace fairlead::rollout
