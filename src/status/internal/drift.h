// Finds the fields of an object that are no longer as they were applied. Pure.
#pragma once

#include <string>
#include <vector>

#include "history/revision.h"
#include "inventory/inventory.h"
#include "inventory/unchanged.h"

namespace fairlead::status {

struct DriftOf {
  // The field manager and the label of the bundle.
  std::string manager;
  std::string label_value;
};

// Returns the paths of the fields that applying the kept object again would change. `live` is the whole object. Fields
// that others added are not among them. Returns nothing if the two cannot be compared.
std::optional<std::vector<std::string>> drifted_fields(const history::KeptObject& kept, const Json& live,
                                                       const DriftOf& bundle, inventory::Types& types);

}  // namespace fairlead::status
