// Reads and writes metadata.managedFields: who owns which fields of an object, and through which operation.
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

  // Identifies the entry in its list. A manager that applies has one entry for all versions. A manager that updates has
  // one per version.
  std::string identity() const;
  bool operator==(const ManagedEntry&) const = default;
};

// Null or absent is an empty list. Fails for an entry that the API server would not accept, with the server's message.
Result<std::vector<ManagedEntry>> parse_managed_fields(const Json& list);
// Sorts the entries as the API server does.
Json dump_managed_fields(std::vector<ManagedEntry> entries);

// Returns the entry of a manager that applied the object itself (not a subresource). Returns nothing if it never did,
// or if the entry cannot be parsed.
std::optional<ManagedEntry> applied_by(const Json& object, std::string_view manager);

// Times have the API server's format, `2006-01-02T15:04:05Z`. Other offsets and fractions of a second can be read as
// well.
std::optional<std::chrono::sys_seconds> parse_time(std::string_view text);
std::string dump_time(std::chrono::sys_seconds time);

}  // namespace fairlead::fields
