// For completion: the bundles in the cluster.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace fairlead::cli {

// Returns the names of the bundles in the namespace that the global flags among `words` choose. `words` is a command
// line that may be incomplete. Returns none if the cluster does not answer within a second, or refuses: completion is
// silent. Never waits for input.
std::vector<std::string> bundle_names(std::span<const std::string> words);

}  // namespace fairlead::cli
