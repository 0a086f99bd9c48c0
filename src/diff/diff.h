// Compares two versions of an object, for people.
//
// This is the room's first header. change_of() compares an object with the form that it would have, and leaves out what
// nobody asked for: fields that only the API server writes, and the status. Objects become YAML (yaml_text.h), and two
// texts become lines that were removed, added or kept (lines.h). definition_changes.h finds changes of a CRD that can
// break its objects. The room is pure: it reads no clock and does no I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fairlead::diff {

struct Look {
  // Show the values of Secrets.
  bool show_secrets = false;
  // Labels of our own. They are left out, unless they change an object that exists.
  std::vector<std::string> own_labels;
};

// A field that differs. `before` is empty if the field is new, `after` if it is removed.
struct FieldChange {
  // For example "spec.template.spec.containers[name=web].image".
  std::string path;
  std::optional<Json> before;
  std::optional<Json> after;
};

struct Change {
  // The two forms as YAML; empty if there is no object.
  std::string before;
  std::string after;
  // The fields that differ, if both forms exist.
  std::vector<FieldChange> fields;

  bool empty() const { return before == after; }
};

// Returns what people see of an object: without status, field owners, and other fields that the API server writes.
Json visible(Json object);

// Compares two forms of an object. Null means that there is no object. Values of Secrets become `***`; if a value
// differs, `*** (before)` and `*** (after)`.
Change change_of(const Json& before, const Json& after, const Look& look = {});

// Returns the fields that differ. Items of lists that have names are matched by name, others by position.
std::vector<FieldChange> field_changes(const Json& before, const Json& after);

}  // namespace fairlead::diff
