#include "removal/internal/collateral.h"

#include <algorithm>
#include <map>

#include "inventory/applyset.h"
#include "object/containers.h"
#include "removal/diagnosis/namespaced_kinds.h"
#include "removal/internal/provenance.h"
#include "removal/order/finalizers.h"
#include "removal/refusal.h"

namespace fairlead::removal {
namespace {

constexpr size_t kNamed = 3;
constexpr size_t kForeignNamed = 10;
constexpr size_t kNamespacesReadApart = 2;
// After this many answers without a list, about a minute, the server is not expected to give one.
constexpr int kAnswers = 12;

// True for objects whose deletion is no loss: every namespace has them, or they are deleted with their owner.
bool is_incidental(const object::Key& key, const Json& object, const std::optional<inventory::Identity>& bundle) {
  // This is the record of the bundle itself.
  std::string_view record_of = object["metadata"]["labels"][inventory::kIdLabel].string_or("");
  if (bundle && record_of == bundle->label_value) return true;
  bool is_of_service = key.kind == "Endpoints" && key.group.empty();
  if (is_of_service || is_in_every_namespace(key)) return true;
  return !object["metadata"]["ownerReferences"].items().empty();
}

void count_foreign(Collateral& collateral, const object::Key& key, const Json& object, MadeBy made_by) {
  ++collateral.foreign;
  if (made_by == MadeBy::bundles) ++collateral.of_bundles;
  if (collateral.foreign_named.size() >= kForeignNamed) return;
  std::optional<inventory::BundleName> owner = inventory::owner_of(object);
  collateral.foreign_named.push_back(owner ? fmt::format("{} of {}", key.text(), owner->text()) : key.text());
}

void count(Collateral& collateral, const object::Key& key, const Json& object, MadeBy made_by) {
  ++collateral.count;
  if (collateral.named.size() < kNamed) collateral.named.push_back(key.text());
  if (collateral.guarded.empty() && is_protected(object)) collateral.guarded = key.text();
  if (made_by != MadeBy::ours) count_foreign(collateral, key, object, made_by);
}

Provenance makers_of(const kube::Discovered& known, const Run& run) {
  auto is_cluster_wide = [&known](const std::string& group, const std::string& kind) {
    const object::Resource* resource = known.find(group, kind);
    return !resource || !resource->namespaced;
  };
  Provenance provenance(run.options().bundle, is_cluster_wide);
  for (NodeId i : run.ids()) provenance.add(run.key(i), run.state(i).uid);
  return provenance;
}

struct Contents {
  kube::Client& client;
  kube::Discovery& discovery;
  Run& run;
  const Tracker& tracker;
  const Provenance& provenance;
  std::map<std::string, Collateral>& by_namespace;
  bool incomplete = false;
  std::string unread = {};

  void miss(const object::Resource& resource) {
    incomplete = true;
    if (unread.empty()) unread = resource.name_with_group();
  }

  void take(const object::Resource& resource, const Json& object) {
    const Json& metadata = object["metadata"];
    object::Key key{.group = resource.group,
                    .kind = resource.kind,
                    .ns = std::string(metadata["namespace"].string_or("")),
                    .name = std::string(metadata["name"].string_or(""))};
    auto found = by_namespace.find(key.ns);
    if (found == by_namespace.end() || run.find(key)) return;
    MadeBy made_by = provenance.of(key, object);
    if (is_incidental(key, object, run.options().bundle)) {
      if (made_by != MadeBy::ours) count_foreign(found->second, key, object, made_by);
      return;
    }
    count(found->second, key, object, made_by);
    if (has_foreign_finalizer(object))
      found->second.carrying.push_back({.key = std::move(key),
                                        .version = resource.version,
                                        .source = {},
                                        .uid = std::string(metadata["uid"].string_or(""))});
  }

  // True if the kind is not served any more: its CRD was deleted after the kinds were read, and with it all its
  // objects. This happens after a run that was killed while it deleted the CRD.
  Task<bool> is_served_no_more(object::Resource resource, const kube::Failure& failure) {
    if (!failure.is(kube::FaultKind::not_served)) co_return false;
    if (!co_await discovery.refresh()) co_return false;
    const kube::Discovered& known = discovery.known();
    bool is_down = std::ranges::any_of(
        known.problems(), [&](const kube::GroupProblem& problem) { return problem.group == resource.group; });
    co_return !is_down && !known.find(resource.group, resource.kind);
  }

  Task<void> read(object::Resource resource, std::string ns) {
    if (const kube::Watched* watched = tracker.covering(resource, ns); watched && watched->synced()) {
      for (const auto& [place, object] : watched->objects()) take(resource, object);
      co_return;
    }
    // Retry: if the namespace were taken for empty, its operator would be deleted before the objects that it has to
    // clean up.
    Backoff pauses = kRetryPauses;
    bool is_told = false;
    for (int answers = 0; answers < kAnswers;) {
      auto list = co_await client.list(resource, {.ns = ns, .metadata_only = true});
      if (list) {
        for (const Json& object : list->items) take(resource, object);
        co_return;
      }
      if (co_await is_served_no_more(resource, list.error())) co_return;
      const kube::Fault* fault = list.error().fault();
      if (fault && fault->disposition == kube::Disposition::permanent) break;
      if (fault) ++answers;
      if (!std::exchange(is_told, true) && !run.halt().waits().cancelled())
        run.note(
            journal::EventKind::error,
            fmt::format("{} cannot be listed at the moment, so it is not known yet what is deleted with a namespace",
                        resource.name_with_group()),
            list.error().error());
      if (!co_await sleep_for(run.loop(), pauses.next())) break;
    }
    miss(resource);
  }
};

Task<void> find_contents(kube::Client& client, kube::Discovery& discovery, Run& run, const Tracker& tracker,
                         const Provenance& provenance, std::map<std::string, Collateral>& by_namespace) {
  auto [kinds, incomplete] = namespaced_kinds(discovery.known());
  if (run.options().bundle) {
    kinds = all_namespaced_kinds(discovery.known());
    // Nobody misses Events, and a busy namespace has thousands of them.
    std::erase_if(kinds, [](const object::Resource& kind) {
      return kind.kind == "Event" && (kind.group.empty() || kind.group == "events.k8s.io");
    });
    incomplete = false;
  }
  Contents contents{client, discovery, run, tracker, provenance, by_namespace, incomplete};
  Scope scope(run.loop(), co_await current_cancel());
  for (const object::Resource& kind : kinds) {
    if (by_namespace.size() > kNamespacesReadApart) scope.spawn(contents.read(kind, ""));
    else
      for (const auto& [ns, collateral] : by_namespace) scope.spawn(contents.read(kind, ns));
  }
  co_await scope.join();
  if (contents.incomplete)
    for (auto& [ns, collateral] : by_namespace) {
      collateral.incomplete = true;
      collateral.unread = contents.unread;
    }
}

}  // namespace

std::string Collateral::text(const Run& run) const {
  const object::Key& key = run.key(container);
  std::string all;
  for (const std::string& name : named) all += (all.empty() ? "" : ", ") + name;
  if (count > named.size()) all += fmt::format(" and {} more", count - named.size());
  return fmt::format("{}: {}{} more {} will be deleted with it: {}", key.text(), incomplete ? "at least " : "", count,
                     count == 1 ? "object" : "objects", all);
}

std::string Collateral::foreign_text() const {
  std::string all;
  for (const std::string& name : foreign_named) all += (all.empty() ? "" : ", ") + name;
  if (foreign > foreign_named.size()) all += fmt::format(" and {} more", foreign - foreign_named.size());
  return fmt::format("{}{} of others would be deleted with it: {}", incomplete ? "at least " : "",
                     foreign == 1 ? "1 object" : fmt::format("{} objects", foreign), all);
}

Task<std::vector<Collateral>> find_collateral(kube::Client& client, kube::Discovery& discovery, Run& run,
                                              const Tracker& tracker) {
  std::vector<Collateral> collaterals;
  std::map<std::string, Collateral> by_namespace;
  Provenance provenance = makers_of(discovery.known(), run);
  for (NodeId i : run.ids()) {
    const object::Key& key = run.key(i);
    if (run.state(i).last.is_null()) continue;
    if (is_crd(key)) {
      Tracker::Others others = tracker.others_of(i);
      Collateral collateral{.container = i};
      if (others.resource && !others.known) collateral.unread = others.resource->name_with_group();
      for (const Json* object : others.objects) {
        object::Key instance{.group = others.resource->group,
                             .kind = others.resource->kind,
                             .ns = std::string((*object)["metadata"]["namespace"].string_or("")),
                             .name = std::string((*object)["metadata"]["name"].string_or(""))};
        count(collateral, instance, *object, provenance.of(instance, *object));
      }
      collaterals.push_back(std::move(collateral));
    } else if (is_namespace(key)) {
      by_namespace[key.name].container = i;
    }
  }
  if (!by_namespace.empty()) co_await find_contents(client, discovery, run, tracker, provenance, by_namespace);
  for (auto& [ns, collateral] : by_namespace) collaterals.push_back(std::move(collateral));
  std::erase_if(collaterals, [](const Collateral& collateral) {
    return collateral.count == 0 && collateral.foreign == 0 && collateral.unread.empty();
  });
  co_return collaterals;
}

}  // namespace fairlead::removal
