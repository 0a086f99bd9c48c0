// A custom resource in one of its versions, as its CustomResourceDefinition has it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/core/kinds.h"
#include "schema/types/type.h"

namespace fairlead::sandbox {

struct PrinterColumn {
  std::string type;
  std::string path;
};

struct CustomKind {
  std::string definition;  // the name of the CustomResourceDefinition
  schema::SchemaPtr schema;
  Json open_api_schema;  // null if it has none
  bool preserve_unknown = false;
  bool has_status = false;
  // Where the scale subresource looks; empty if there is none.
  std::string replicas_path, status_replicas_path, selector_path;
  std::vector<PrinterColumn> printer_columns;
  Json conversion;
  bool terminating = false;
  // What the server warns of whenever this version is used.
  bool is_deprecated = false;
  std::string deprecation_warning;
};

// What the definition serves: a Kind for each served version, with the accepted names.
std::vector<Kind> kinds_of(const Json& definition);

// A JSONPath as printer columns have it: members, indices, and filters by equality. Null where it leads nowhere.
Json value_at(const Json& object, std::string_view path);
// The same for writing, members only: `.spec.replicas`.
void set_at(Json& object, std::string_view path, Json value);

}  // namespace fairlead::sandbox
