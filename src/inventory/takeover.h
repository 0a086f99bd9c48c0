// Decides from which field managers a run takes over an object, and how managedFields looks afterwards. Pure.
//
// When users move to Fairlead from another tool, the entry of that tool stays in managedFields. As long as it is there,
// a field that is removed from the manifests stays in the cluster, because the former manager still owns it. So the run
// takes over the fields of the former manager, as `kubectl apply --server-side` does after client-side apply, and
// applies the object again. The API server then removes the fields that the manifest does not have.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace fairlead::inventory {

// The run that takes over.
struct Successor {
  std::string field_manager;
  // The value of the label part-of. Empty for runs without a name.
  std::string label_value;
  // Other field managers of the same user: those of earlier runs of the bundle, and the one of runs without a name.
  std::set<std::string, std::less<>> predecessors;
};

// Returns the managers whose fields the successor takes over, each once:
// - its predecessors;
// - client-side kubectl, and any other manager that owns the last-applied annotation of `kubectl apply`;
// - helm, if the object is part of a release;
// - other bundles, if the object already has the successor's label, which means that it was moved.
std::vector<std::string> former_managers(const Json& object, const Successor& successor);

// True if the fields of this manager may be overwritten in a conflict without --force-conflicts. Fields of Helm may
// not, because Helm's values may be newer.
bool gives_way(std::string_view manager, const Json& object, const Successor& successor);

// Returns the new metadata.managedFields, in which the fields of former managers belong to the successor. Handles one
// API version per call: apply the object again, then call it on the result for the next version. Returns null if there
// is nothing to take over or managedFields cannot be parsed.
Json managed_fields_after_takeover(const Json& object, const Successor& successor);

// Returns the JSON Patch that stores this managedFields. The API server refuses it if somebody else has changed the
// object meanwhile. Null if there is nothing to take over.
Json takeover_patch(const Json& object, const Successor& successor);

}  // namespace fairlead::inventory
