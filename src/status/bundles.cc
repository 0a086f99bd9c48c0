#include "status/bundles.h"

#include <algorithm>

#include "async/scope.h"
#include "readiness/verdict.h"

namespace fairlead::status {
namespace {

Task<void> summarize(kube::Client& client, kube::Discovery& discovery, Json record, Bundles& bundles) {
  std::string created(record["metadata"]["creationTimestamp"].string_or(""));
  auto inventory = inventory::Inventory::of(client, discovery, std::move(record));
  // Not the record of a bundle of ours: an ApplySet of another tool.
  if (!inventory) co_return;
  BundleSummary summary{.name = (*inventory)->name(),
                        .home = (*inventory)->home(),
                        .created = std::move(created),
                        .last_run = history::last_run_of(**inventory)};
  std::vector<history::Revision> revisions = history::revisions_of(**inventory);
  if (!revisions.empty()) summary.revision = revisions.front();
  if (!(*inventory)->is_free()) summary.held_by = (*inventory)->claimed_by()->holder;
  auto members = co_await (*inventory)->members(true);
  if (!members) {
    bundles.notes.push_back(fmt::format("the objects of bundle {} in namespace {} cannot be listed: {}", summary.name,
                                        summary.home, members.error().error().message()));
  } else {
    summary.objects = members->found.size();
    summary.unlisted_kinds = members->unlisted.size();
    for (const inventory::Member& member : members->found)
      if (readiness::judge(member.object).state == readiness::State::ready) ++summary.ready;
  }
  bundles.bundles.push_back(std::move(summary));
}

Task<kube::Outcome<kube::List>> list_records(kube::Client& client, std::string ns) {
  object::Resource config_maps{
      .group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .namespaced = true};
  kube::ListOptions options;
  options.ns = std::move(ns);
  options.label_selector = inventory::kIdLabel;
  co_return co_await client.list(config_maps, std::move(options));
}

}  // namespace

Task<Result<Bundles>> read_bundles(kube::Client& client, kube::Discovery& discovery, std::string ns,
                                   std::string fallback) {
  Bundles bundles;
  kube::Outcome<kube::List> records = co_await list_records(client, ns);
  if (!records && ns.empty() && records.error().is(kube::FaultKind::forbidden)) {
    bundles.notes.push_back(fmt::format(
        "this user may not list ConfigMaps in all namespaces: only those of namespace {} are shown", fallback));
    records = co_await list_records(client, fallback);
  }
  if (!records) co_return fail(records.error().error());
  auto known = co_await discovery.all();
  if (!known) co_return fail(known.error().error());
  Scope scope(client.loop(), co_await current_cancel());
  for (Json& record : records->items) scope.spawn(summarize(client, discovery, std::move(record), bundles));
  co_await scope.join();
  std::ranges::sort(bundles.bundles, {}, [](const BundleSummary& one) { return std::pair(one.home, one.name); });
  co_return bundles;
}

Task<Result<std::vector<std::string>>> read_names(kube::Client& client, kube::Discovery& discovery, std::string ns) {
  kube::Outcome<kube::List> records = co_await list_records(client, std::move(ns));
  if (!records) co_return fail(records.error().error());
  std::vector<std::string> names;
  for (Json& record : records->items)
    if (auto inventory = inventory::Inventory::of(client, discovery, std::move(record)))
      names.push_back((*inventory)->name());
  std::ranges::sort(names);
  co_return names;
}

}  // namespace fairlead::status
