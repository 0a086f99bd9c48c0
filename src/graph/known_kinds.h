// The kinds that are known without a cluster.
#pragma once

#include <string_view>

namespace fairlead::graph {

// True if Kubernetes itself has the kind. The group is empty for the core group.
bool is_kind_of_kubernetes(std::string_view group, std::string_view kind);

}  // namespace fairlead::graph
