// The kinds that every API server has: their types, and the resources that serve them.
//
// Read from the table on demand: a schema holds the types that its kind leads to and no others, and takes well under a
// millisecond to make. Whoever needs it often keeps it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/types/type.h"

namespace fairlead::schema {

// The version of the server that the table was made from, "v1.37.1".
std::string_view builtin_version();

// Null for a kind that is not built in. The core group is "".
SchemaPtr builtin_schema(std::string_view group, std::string_view version, std::string_view kind);

struct Column {
  std::string name, type, format, description;
  int64_t priority = 0;
};

struct Resource {
  std::string group, version;  // of the path that serves it
  std::string name;            // "deployments", "deployments/scale"
  std::string singular, kind;
  std::string kind_group, kind_version;  // where the kind is of another group or version (scale)
  bool namespaced = false;
  std::vector<std::string> verbs, short_names, categories;
  std::string storage_version_hash;
  std::vector<Column> columns;  // of tables
};

// In the order of discovery.
std::vector<Resource> builtin_resources();

// Adds a built-in type, and what it leads to, to a schema that is being made; its place there.
TypeId add_builtin_type(Schema& schema, std::string_view name);

}  // namespace fairlead::schema
