// Lists as tables, with the columns that the real server prints.
#pragma once

#include "sandbox/core/core.h"

namespace fairlead::sandbox {

// `include` is the parameter includeObject: Metadata (also if empty), Object or None.
Json table_of(const Core& core, const Kind& kind, const Json::Array& objects, Json metadata, std::string_view include,
              bool with_columns);
// The same for a list, which tells more in one case: which StorageClass is the default.
Json table_of_list(const Core& core, const Kind& kind, const Json::Array& objects, Json metadata,
                   std::string_view include);

// "45s", "3m10s", "5h12m", "3d4h": as kubectl shows ages.
std::string human_duration(Duration duration);

// How long ago a time of an object was.
std::string age_of(const Core& core, std::string_view time);

// Whether cells_of knows the kind: where it does not, clients get the objects themselves.
bool has_cells(const Kind& kind);
// The cells of a built-in kind, in the order of its columns.
Json::Array cells_of(const Core& core, const Kind& kind, const Json& object);

}  // namespace fairlead::sandbox
