#include "rollout/internal/prepare.h"

#include <algorithm>

#include "graph/kind_generators.h"
#include "object/containers.h"
#include "rollout/core/retry.h"
#include "rollout/core/run.h"
#include "rollout/internal/cluster_state.h"
#include "rollout/internal/nulls.h"

namespace fairlead::rollout {
namespace {

using journal::EventKind;

void add_home_namespace(const Options& options, const graph::ClusterState& cluster, manifest::Bundle& bundle) {
  const std::string& name = options.default_namespace;
  for (const object::Object& object : bundle.objects)
    if (object.key() == object::namespace_key(name)) return;
  for (const Json& there : cluster.namespaces)
    if (there["metadata"]["name"].string_or("") == name) return;
  Json value(Json::Object{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Json::Object{{"name", name}}}});
  if (auto object = object::Object::from(std::move(value), {.file = "--create-namespace"}))
    bundle.objects.push_back(*std::move(object));
}

// Reads the KindGenerators of the cluster, if the bundle has a kind that neither the cluster nor a CRD of the bundle
// defines.
Task<void> read_kind_generators(kube::Client& client, const kube::Discovered& discovered, const Kinds& kinds,
                                const manifest::Bundle& bundle, graph::ClusterState& cluster) {
  auto is_known = [&](const object::Object& object) { return kinds.of(object) != nullptr; };
  if (std::ranges::all_of(bundle.objects, is_known)) co_return;
  for (const graph::GeneratorKind& one : graph::generator_kinds()) {
    const object::Resource* resource = discovered.find(one.group, one.kind);
    if (!resource) continue;
    // If they cannot be read, the user is told which kinds are missing.
    auto list = co_await client.list(*resource, {});
    if (list)
      for (Json& item : list->items) cluster.kind_generators.push_back(std::move(item));
  }
}

Task<manifest::Errors> open_inventory(kube::Client& client, kube::Discovery& discovery, const Options& options,
                                      journal::Journal& journal, Prepared& prepared) {
  inventory::Options wanted{
      .name = options.name,
      .ns = options.default_namespace,
      .field_manager = options.field_manager == kFieldManager ? "" : options.field_manager,
      .holder = options.holder,
      .origin = options.origin,
      .known_dead = options.known_dead,
      .waiting =
          [&journal](const inventory::Claim& other, Duration at_most) {
            auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most).count();
            journal.add(
                {.kind = EventKind::note,
                 .text = fmt::format("{} has claimed this bundle; checking whether that run is still alive (up to {}s)",
                                     other.holder, seconds)});
          },
      .held_up =
          [&journal](const kube::Fault& fault) {
            journal.add({.kind = EventKind::warning,
                         .text = fmt::format("the claim of the bundle cannot be renewed until webhook {} answers, but "
                                             "stays valid, because no other run can write the inventory either: {}",
                                             fault.webhook->name, fault.explanation)});
          }};
  auto opened = co_await retry_while_passing(client.loop(),
                                             [&] { return inventory::Inventory::open(client, discovery, wanted); });
  if (!opened) co_return manifest::Errors{opened.error().error()};
  prepared.inventory = *std::move(opened);
  co_return manifest::Errors();
}

Task<manifest::Errors> read_members(kube::Client& client, kube::Discovery& discovery, const Options& options,
                                    journal::Journal& journal, Prepared& prepared) {
  prepared.members.clear();
  prepared.foreign_objects.clear();
  prepared.live.clear();
  if (!prepared.inventory) {
    manifest::Errors errors = co_await open_inventory(client, discovery, options, journal, prepared);
    if (!errors.empty()) co_return errors;
  }
  if (!prepared.inventory->exists()) co_return manifest::Errors();
  auto members = co_await retry_while_passing(client.loop(), [&] { return prepared.inventory->members(true); });
  if (!members) co_return manifest::Errors{members.error().error()};
  prepared.members = std::move(members->found);
  prepared.foreign_objects = std::move(members->foreign_objects);
  for (const inventory::Unlisted& one : members->unlisted)
    journal.add({.kind = EventKind::warning,
                 .text = fmt::format("{} of the bundle cannot be listed: {}", one.kind.text(), one.why.message())});
  for (const inventory::Member& member : prepared.members) prepared.live.emplace(member.key, &member.object);
  co_return manifest::Errors();
}

}  // namespace

Task<manifest::Errors> prepare(kube::Client& client, kube::Discovery& discovery, const Options& options,
                               journal::Journal& journal, Prepared& prepared) {
  auto known = co_await retry_while_passing(client.loop(), [&] { return discovery.all(); });
  if (!known) co_return manifest::Errors{known.error().error()};
  std::vector<std::string> notes;
  Result<graph::ClusterState> cluster = co_await read_cluster(client, **known, notes, prepared.version);
  if (!cluster) co_return manifest::Errors{cluster.error()};
  prepared.cluster = *std::move(cluster);
  for (std::string& text : notes) journal.add({.kind = EventKind::note, .text = std::move(text)});

  drop_nulls(prepared.bundle, prepared.cluster.definitions);
  if (options.create_namespace) add_home_namespace(options, prepared.cluster, prepared.bundle);
  prepared.kinds = std::make_unique<Kinds>(**known, prepared.bundle);
  manifest::Errors errors = place(prepared.bundle, *prepared.kinds, options);
  co_await read_kind_generators(client, **known, *prepared.kinds, prepared.bundle, prepared.cluster);
  if (!options.name.empty() && errors.empty()) {
    errors = co_await read_members(client, discovery, options, journal, prepared);
    if (!errors.empty()) co_return errors;
  }

  prepared.cluster.find_resource = [&prepared](std::string_view group, std::string_view version,
                                               std::string_view kind) {
    return prepared.kinds->find(group, version, kind);
  };
  prepared.cluster.why_missing = [known = *known](std::string_view group, std::string_view version,
                                                  std::string_view kind) {
    return known->missing(group, version, kind);
  };
  prepared.cluster.find_live = [&prepared](const object::Key& key) -> const Json* {
    auto found = prepared.live.find(key);
    return found == prepared.live.end() ? nullptr : found->second;
  };
  graph::Options place{.default_namespace = options.default_namespace};
  if (prepared.inventory) {
    place.inventory = prepared.inventory->parent().name;
    place.was_there = prepared.inventory->was_installed();
  }
  prepared.graph = graph::Graph::build(prepared.bundle, prepared.cluster, place);
  for (const graph::Problem& problem : prepared.graph->problems()) {
    if (problem.severity == graph::Severity::error) {
      errors.push_back(problem.error);
      continue;
    }
    journal.add({.kind = problem.severity == graph::Severity::note ? EventKind::note : EventKind::warning,
                 .source = problem.error.where(),
                 .text = problem.error.message(),
                 .error = problem.error});
  }
  co_return errors;
}

}  // namespace fairlead::rollout
