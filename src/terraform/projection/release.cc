#include "terraform/projection/release.h"

#include <algorithm>

#include "fields/managed_fields.h"

namespace fairlead::terraform {
namespace {

std::vector<fields::ManagedEntry> entries_in(const Json& list) {
  auto entries = fields::parse_managed_fields(list);
  return entries ? *std::move(entries) : std::vector<fields::ManagedEntry>();
}

bool is_of(const fields::ManagedEntry& entry, std::string_view manager) {
  return entry.manager == manager && entry.subresource.empty();
}

}  // namespace

fields::FieldSet owned_by(const Json& object, std::string_view manager) {
  fields::FieldSet set;
  for (const fields::ManagedEntry& entry : entries_in(object["metadata"]["managedFields"]))
    if (is_of(entry, manager)) set = set.united(entry.fields);
  return set;
}

Json owners_among(const Json& object, const fields::FieldSet& fields, std::string_view manager) {
  std::vector<fields::ManagedEntry> owners;
  for (fields::ManagedEntry& entry : entries_in(object["metadata"]["managedFields"])) {
    if (is_of(entry, manager)) continue;
    entry.fields = entry.fields.intersected(fields);
    if (!entry.fields.empty()) owners.push_back(std::move(entry));
  }
  return fields::dump_managed_fields(std::move(owners));
}

Json managed_fields_after_release(const Json& object, std::string_view manager, const fields::FieldSet& released,
                                  const Json& before) {
  std::vector<fields::ManagedEntry> entries = entries_in(object["metadata"]["managedFields"]);
  fields::FieldSet given;
  for (fields::ManagedEntry& entry : entries) {
    if (!is_of(entry, manager)) continue;
    given = given.united(entry.fields.intersected(released));
    entry.fields = entry.fields.without(released);
  }
  if (given.empty()) return {};
  std::erase_if(entries, [](const fields::ManagedEntry& entry) { return entry.fields.empty(); });
  for (fields::ManagedEntry& owner : entries_in(before)) {
    fields::FieldSet returned = owner.fields.intersected(given);
    if (returned.empty()) continue;
    auto same = std::ranges::find(entries, owner.identity(), &fields::ManagedEntry::identity);
    if (same != entries.end()) {
      same->fields = same->fields.united(returned);
    } else {
      owner.fields = std::move(returned);
      entries.push_back(std::move(owner));
    }
  }
  return fields::dump_managed_fields(std::move(entries));
}

}  // namespace fairlead::terraform
