#include "schema/apply.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/go_quoted.h"
#include "schema/defaults/stored.h"
#include "schema/internal/last_applied.h"
#include "schema/internal/managers.h"
#include "schema/types/typed.h"

namespace fairlead::schema {
namespace {

using fields::FieldSet;
using fields::ManagedEntry;
using fields::Operation;
using fields::PathElement;

// "apps/v1, Kind=Deployment"
std::string kind_text(std::string_view api_version, std::string_view kind) {
  size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? fmt::format("/{}, Kind={}", api_version, kind)
                                         : fmt::format("{}, Kind={}", api_version, kind);
}

std::string object_text(const Json& object) {
  const Json& meta = object["metadata"];
  return fmt::format("{}/{}; {}", meta["namespace"].string_or(""), meta["name"].string_or(""),
                     kind_text(object["apiVersion"].string_or(""), object["kind"].string_or("")));
}

std::string manager_text(const ManagedEntry& entry) {
  std::string out = go_quoted(entry.manager);
  if (!entry.subresource.empty()) out += " with subresource " + go_quoted(entry.subresource);
  if (entry.operation == Operation::update) out += " using " + entry.api_version;
  return out;
}

Refusal conflict_refusal(const std::vector<Conflict>& conflicts, const Managers& managers) {
  std::vector<Cause> causes;
  for (const Conflict& conflict : conflicts)
    causes.push_back({"FieldManagerConflict", fields::text_of(conflict.path),
                      "conflict with " + manager_text(managers.at(conflict.manager))});
  std::string message;
  if (conflicts.size() == 1) {
    message = fmt::format("Apply failed with 1 conflict: {}: {}", causes[0].message, causes[0].field);
  } else {
    message = fmt::format("Apply failed with {} conflicts:", conflicts.size());
    for (size_t i = 0; i < conflicts.size(); ++i) {
      if (i == 0 || conflicts[i].manager != conflicts[i - 1].manager)
        message +=
            fmt::format("{}conflicts with {}:", i == 0 ? " " : "\n", manager_text(managers.at(conflicts[i].manager)));
      message += "\n- " + causes[i].field;
    }
  }
  return {409, "Conflict", std::move(message), Json::Object{{"causes", dump_causes(causes)}}};
}

ManagedEntry entry_of(const Target& target, std::string_view manager, Operation operation) {
  return {.manager = manager.empty() ? "unknown" : std::string(manager),
          .operation = operation,
          .api_version = target.api_version,
          .subresource = target.subresource,
          .time = {},
          .fields = {}};
}

Json with_managers(Json object, const Managers& managers) {
  Json& meta = object.make("metadata");
  if (managers.empty()) {
    if (meta.is_object()) meta.if_object()->erase("managedFields");
  } else {
    meta.make("managedFields") = fields::dump_managed_fields(listed(managers));
  }
  return object;
}

void strip(Managers& managers, const std::string& identity) {
  auto place = managers.find(identity);
  if (place == managers.end()) return;
  place->second.fields = place->second.fields.without(server_fields());
  if (place->second.fields.empty()) managers.erase(place);
}

void reconcile(const Versions& versions, Managers& managers) {
  for (auto place = managers.begin(); place != managers.end();) {
    const Schema* schema = versions.schema(place->second.api_version);
    if (schema) place->second.fields = reconciled(*schema, place->second.fields);
    place = schema ? std::next(place) : managers.erase(place);
  }
}

// What a write other than apply takes and gives.
void own_changes(const Target& target, const Json& before, const Json& after, Managers& managers, ManagedEntry entry,
                 std::chrono::sys_seconds now) {
  Versions versions(target);
  reconcile(versions, managers);
  const std::string self = "current-operation";
  take_over(versions, target.reset, before, after, managers, self, true);
  Comparison change = compare(versions.schema(), before, after);
  ManagedEntry& own = managers[self] = entry;
  own.fields = change.modified.united(change.added).without_trees(target.reset);
  strip(managers, self);
  if (auto place = managers.find(self); place != managers.end()) {
    entry.fields = place->second.fields;
    managers.erase(place);
    std::string identity = entry.identity();
    if (auto previous = managers.find(identity); previous != managers.end())
      entry.fields = entry.fields.united(previous->second.fields);
    entry.time = now;
    managers.insert_or_assign(identity, std::move(entry));
  }
  cap_updaters(managers);
}

bool is_reset(const Json* managed_fields) {
  if (!managed_fields || !managed_fields->is_array()) return false;
  const Json::Array& list = managed_fields->items();
  return list.empty() ||
         (list.size() == 1 && (list[0].is_null() || (list[0].is_object() && list[0].members().empty())));
}

// Those that the write itself brings along, or those of the live object.
Managers managers_of(const Target& target, const Json& live, const Json& updated) {
  const Json* given = updated["metadata"].members().find("managedFields");
  if (target.subresource.empty() && given) {
    if (is_reset(given)) return {};
    if (auto entries = fields::parse_managed_fields(*given); entries && !entries->empty())
      return by_identity(*std::move(entries));
  }
  auto entries = fields::parse_managed_fields(live["metadata"]["managedFields"]);
  return entries ? by_identity(*std::move(entries)) : Managers();
}

}  // namespace

const FieldSet& server_fields() {
  static const FieldSet kSet = [] {
    FieldSet set;
    for (std::string_view name : {"apiVersion", "kind", "metadata"}) set.insert(fields::Path{PathElement::field(name)});
    for (std::string_view name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName",
                                  "generation", "managedFields", "resourceVersion"})
      set.insert(fields::Path{PathElement::field("metadata"), PathElement::field(name)});
    return set;
  }();
  return kSet;
}

std::expected<Json, Refusal> apply(const Target& target, const Json& live, const Json& configuration,
                                   const Writer& writer) {
  auto refuse = [](Refusal refusal) { return std::unexpected(std::move(refusal)); };
  Versions versions(target);
  const Schema& schema = versions.schema();
  std::string_view version = configuration["apiVersion"].string_or(""), kind = configuration["kind"].string_or("");
  if (version != target.api_version || kind != target.kind)
    return refuse(bad_request("invalid object type: " + kind_text(version, kind)));
  if (!configuration["metadata"]["managedFields"].is_null())
    return refuse(bad_request("metadata.managedFields must be nil"));

  Json before = live.is_null() ? empty_object(schema, target.api_version, target.kind) : live;
  auto entries = fields::parse_managed_fields(before["metadata"]["managedFields"]);
  if (!entries) return refuse(bare_error("failed to decode managed fields: " + entries.error().message()));
  Managers managers = by_identity(*std::move(entries));
  if (managers.empty())
    own_changes(target, empty_object(schema, target.api_version, target.kind), before, managers,
                entry_of(target, "before-first-apply", Operation::update), writer.now);

  if (auto found = misfits(schema, configuration, Duplicates::refused); !found.empty())
    return refuse(bare_error(
        fmt::format("failed to create typed patch object ({}): {}", object_text(configuration), text_of(found))));
  if (auto found = misfits(schema, before, Duplicates::allowed); !found.empty())
    return refuse(
        bare_error(fmt::format("failed to create typed live object ({}): {}", object_text(before), text_of(found))));

  reconcile(versions, managers);
  Json merged = merge(schema, before, configuration);
  ManagedEntry entry = entry_of(target, writer.manager, Operation::apply);
  std::string self = entry.identity();
  ManagedEntry last = managers.contains(self) ? managers[self] : ManagedEntry();
  entry.time = last.time;
  entry.fields = field_set(schema, configuration).without_trees(target.reset);
  managers.insert_or_assign(self, entry);
  merged = pruned(versions, merged, managers, self, last);

  std::vector<Conflict> conflicts = take_over(versions, target.reset, before, merged, managers, self, writer.force);
  if (!conflicts.empty() && writer.manager == kLastAppliedHeeder) {
    fields::FieldSet own = last_applied_fields(schema, target.api_version, before);
    std::erase_if(conflicts, [&](const Conflict& one) { return own.has(one.path); });
    if (conflicts.empty()) return apply(target, live, configuration, {writer.manager, writer.now, true});
  }
  if (!conflicts.empty()) return refuse(conflict_refusal(conflicts, managers));
  bool changed = !fields::equal_values(before, merged);
  strip(managers, self);
  if (changed && managers.contains(self)) managers[self].time = writer.now;
  Json result = !changed ? std::move(before) : target.complete ? target.complete(std::move(merged)) : std::move(merged);
  if (writer.manager == kLastAppliedHeeder) renew_last_applied(configuration, result);
  return with_managers(std::move(result), managers);
}

Json track_update(const Target& target, const Json& live, Json updated, const Writer& writer) {
  Managers managers = managers_of(target, live, updated);
  bool is_create = live["metadata"]["uid"].string_or("").empty();
  if (managers.empty() && !is_create) return with_managers(std::move(updated), {});
  if (Json* meta = updated.if_object() ? updated.if_object()->find("metadata") : nullptr; meta && meta->is_object())
    meta->if_object()->erase("managedFields");

  const Schema& schema = Versions(target).schema();
  Json before = live.is_null() ? empty_object(schema, target.api_version, target.kind) : live;
  bool fits =
      misfits(schema, before, Duplicates::allowed).empty() && misfits(schema, updated, Duplicates::allowed).empty();
  if (!fits) return with_managers(std::move(updated), {});
  own_changes(target, before, updated, managers, entry_of(target, writer.manager, Operation::update), writer.now);
  return with_managers(std::move(updated), managers);
}

void keep_times(const Json& live, Json& updated) {
  auto old_entries = fields::parse_managed_fields(live["metadata"]["managedFields"]);
  auto new_entries = fields::parse_managed_fields(updated["metadata"]["managedFields"]);
  if (!old_entries || !new_entries || old_entries->size() != new_entries->size() || new_entries->empty()) return;
  for (size_t i = 0; i < new_entries->size(); ++i) {
    (*new_entries)[i].time = (*old_entries)[i].time;
    if ((*new_entries)[i] != (*old_entries)[i]) return;
  }
  Json candidate = updated;
  candidate.make("metadata").make("managedFields") = live["metadata"]["managedFields"];
  if (fields::equal_values(candidate, live)) updated = std::move(candidate);
}

std::string manager_name(std::string_view field_manager, std::string_view user_agent) {
  if (!field_manager.empty()) return std::string(field_manager);
  std::string_view program = user_agent.substr(0, user_agent.find('/'));
  return program.empty() ? "unknown" : std::string(program.substr(0, 128));
}

}  // namespace fairlead::schema
