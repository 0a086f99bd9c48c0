// metadata.managedFields: who owns which fields of an object, through which operation.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fields/field_set.h"

namespace fairlead::fields {

enum class Operation { apply, update };

struct ManagedEntry {
  std::string manager;
  Operation operation = Operation::update;
  std::string api_version;
  std::string subresource;
  std::optional<std::chrono::sys_seconds> time;
  FieldSet fields;

  // What tells entries apart: an applier has one entry whatever the version, an updater one a version.
  std::string identity() const;
  bool operator==(const ManagedEntry&) const = default;
};

// Null and absent are an empty list. An entry that the API server would not take is an error, in its words.
Result<std::vector<ManagedEntry>> parse_managed_fields(const Json& list);
// Sorted as the API server sorts them.
Json dump_managed_fields(std::vector<ManagedEntry> entries);

// What that manager owns by applying the object itself (not a subresource); nothing if it never applied it or the entry
// cannot be read.
std::optional<ManagedEntry> applied_by(const Json& object, std::string_view manager);

// The server's form of times, `2006-01-02T15:04:05Z`; other offsets and fractions of a second are read as well.
std::optional<std::chrono::sys_seconds> parse_time(std::string_view text);
std::string dump_time(std::chrono::sys_seconds time);

}  // namespace fairlead::fields
