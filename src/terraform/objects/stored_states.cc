#include "terraform/objects/stored_states.h"

#include <fmt/format.h>

namespace fairlead::terraform {

void StoredStates::note(std::string_view id, std::string what, Value cluster, bool is_protected) {
  Result<Json> description = cluster.to_json();
  std::string key = fmt::format("{}\n{}", id, description ? description->dump() : "");
  ids_.emplace(id);
  states_.insert_or_assign(
      std::move(key), Stored{.what = std::move(what), .cluster = std::move(cluster), .is_protected = is_protected});
}

Task<bool> StoredStates::protect(Clusters& clusters, Connection* connection, std::string what) const {
  std::vector<Value> described;
  for (const auto& [key, stored] : states_)
    if (stored.is_protected && stored.what == what) described.push_back(stored.cluster);
  for (Value& cluster : described) {
    Result<Connection*> found = co_await clusters.connect(std::move(cluster));
    if (found && *found == connection) co_return true;
  }
  co_return false;
}

}  // namespace fairlead::terraform
