#include "schema/internal/managers.h"

#include <algorithm>
#include <set>

#include "schema/types/typed.h"

namespace fairlead::schema {
namespace {

using fields::FieldSet;
using fields::ManagedEntry;
using fields::Operation;

constexpr size_t kMaxUpdaters = 10;

// What is in `merged` and neither in `kept` nor owned by anybody: `owned` is the union of what they own in that
// version.
Json with_owned(const Schema& schema, const Json& merged, const Json& kept, const FieldSet& owned) {
  FieldSet all = with_parents(schema, field_set(schema, merged));
  FieldSet stays = with_parents(schema, field_set(schema, kept)).united(with_parents(schema, owned));
  return without(schema, merged, all.without(stays));
}

}  // namespace

Managers by_identity(std::vector<ManagedEntry> entries) {
  Managers out;
  for (ManagedEntry& entry : entries) {
    std::string identity = entry.identity();
    out.insert_or_assign(std::move(identity), std::move(entry));
  }
  return out;
}

std::vector<ManagedEntry> listed(const Managers& managers) {
  std::vector<ManagedEntry> out;
  for (const auto& [identity, entry] : managers) out.push_back(entry);
  return out;
}

const Schema* Versions::schema(std::string_view api_version) const {
  auto place = target_.versions.find(api_version);
  return place == target_.versions.end() ? nullptr : place->second.get();
}

Json Versions::convert(const Json& object, std::string_view api_version) const {
  if (object["apiVersion"].string_or("") == api_version) return object;
  if (target_.convert) return target_.convert(object, api_version);
  Json out = object;
  out.make("apiVersion") = api_version;
  return out;
}

std::vector<Conflict> take_over(const Versions& versions, const FieldSet& reset, const Json& before, const Json& after,
                                Managers& managers, const std::string& self, bool force) {
  std::map<std::string, Comparison> comparisons;
  auto comparison_in = [&](const std::string& version, const Schema& schema) -> const Comparison& {
    auto [place, is_new] = comparisons.try_emplace(version);
    if (is_new) {
      Comparison found = compare(schema, versions.convert(before, version), versions.convert(after, version));
      place->second = {found.removed.without_trees(reset), found.modified.without_trees(reset),
                       found.added.without_trees(reset)};
    }
    return place->second;
  };

  std::vector<Conflict> conflicts;
  std::map<std::string, FieldSet> taken;
  for (auto place = managers.begin(); place != managers.end();) {
    const auto& [identity, entry] = *place;
    if (identity == self) {
      ++place;
      continue;
    }
    const Schema* schema = versions.schema(entry.api_version);
    if (!schema) {
      place = managers.erase(place);
      continue;
    }
    const Comparison& change = comparison_in(entry.api_version, *schema);
    FieldSet lost = entry.fields.intersected(change.modified.united(change.added));
    lost.for_each([&](const fields::Path& path) { conflicts.push_back({identity, path}); });
    taken.emplace(identity, lost.united(change.removed));
    ++place;
  }
  if (!force && !conflicts.empty()) return conflicts;
  for (const auto& [identity, lost] : taken) managers[identity].fields = managers[identity].fields.without(lost);
  std::erase_if(managers, [](const auto& manager) { return manager.second.fields.empty(); });
  return {};
}

Json pruned(const Versions& versions, const Json& merged, const Managers& managers, const std::string& self,
            const ManagedEntry& last) {
  const Schema* schema = versions.schema(last.api_version);
  if (last.fields.empty() || !schema) return merged;
  Json whole = versions.convert(merged, last.api_version);
  FieldSet applied_before = with_parents(*schema, last.fields);
  Json kept = without(*schema, whole, applied_before);

  std::map<std::string, FieldSet> owned;
  for (const auto& [identity, entry] : managers)
    owned[entry.api_version] = owned[entry.api_version].united(entry.fields);
  // The version that was pruned comes first: conversion may need what is owned in it.
  std::vector<std::string> order = {last.api_version};
  for (const auto& [version, fields] : owned)
    if (version != last.api_version) order.push_back(version);
  Json current = whole;
  for (const std::string& version : order) {
    const Schema* other = versions.schema(version);
    if (!other || !owned.contains(version)) continue;
    current = versions.convert(current, version);
    kept = with_owned(*other, current, versions.convert(kept, version), owned[version]);
  }

  // Whatever else went on the way was not this manager's to remove.
  kept = versions.convert(kept, last.api_version);
  FieldSet gone = with_parents(*schema, field_set(*schema, whole))
                      .without(with_parents(*schema, field_set(*schema, kept)))
                      .intersected(applied_before);
  return versions.convert(without(*schema, whole, gone), managers.at(self).api_version);
}

void cap_updaters(Managers& managers) {
  std::vector<std::string> updaters;
  for (const auto& [identity, entry] : managers)
    if (entry.operation == Operation::update) updaters.push_back(identity);
  size_t count = updaters.size();
  if (count <= kMaxUpdaters) return;
  std::sort(updaters.begin(), updaters.end(), [&](const std::string& a, const std::string& b) {
    auto time = [&](const std::string& identity) {
      return managers[identity].time.value_or(std::chrono::sys_seconds());
    };
    return std::pair(time(a), a) < std::pair(time(b), b);
  });
  std::map<std::string, std::string> first_of_version;
  for (const std::string& identity : updaters) {
    if (count <= kMaxUpdaters) break;
    ManagedEntry entry = managers[identity];
    ManagedEntry bucket{.manager = "ancient-changes",
                        .operation = Operation::update,
                        .api_version = entry.api_version,
                        .subresource = "",
                        .time = {},
                        .fields = {}};
    auto [first, is_first] = first_of_version.try_emplace(entry.api_version, identity);
    if (is_first) continue;
    std::string name = bucket.identity();
    if (!managers.contains(name)) {
      bucket.fields = managers[first->second].fields;
      managers.erase(first->second);
      managers.emplace(name, bucket);
    }
    managers[name].fields = entry.fields.united(managers[name].fields);
    managers[name].time = entry.time;
    managers.erase(identity);
    --count;
  }
}

}  // namespace fairlead::schema
