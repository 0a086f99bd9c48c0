// Decides from which field managers a run takes an object over, and how managedFields looks afterwards. Pure.
//
// Whoever moves to Fairlead from another tool leaves that tool's entry in managedFields behind. While the entry is
// there, a field that leaves the manifests stays in the cluster, because the former manager still owns it. So the run
// makes the former manager's fields its own, as `kubectl apply --server-side` does with those of client-side apply, and
// applies the object once more: what the manifest does not have is then removed by the API server.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace fairlead::inventory {

// Who takes over.
struct Successor {
  std::string field_manager;
  // The label part-of; empty for runs without a name.
  std::string label_value;
  // The other field managers of the same user: those of earlier runs of the bundle, and that of runs without a name.
  std::set<std::string, std::less<>> predecessors;
};

// The managers whose fields pass to the successor, each once:
// - its predecessors;
// - client-side kubectl, and whoever else keeps the annotation of `kubectl apply` up to date;
// - helm, if the object is part of a release;
// - other bundles, if the object has the successor's label by now: it was moved.
// Empty for an object that is nobody else's.
std::vector<std::string> former_managers(const Json& object, const Successor& successor);

// True if that manager gives way in a conflict without --force-conflicts. Helm does not: its values may be newer.
bool gives_way(std::string_view manager, const Json& object, const Successor& successor);

// The new metadata.managedFields: the fields of former managers belong to the successor. One API version at a time: the
// next call, on the object as the successor has applied it again, does the rest. Null if it cannot be told.
Json managed_fields_after_takeover(const Json& object, const Successor& successor);

}  // namespace fairlead::inventory
