// The version of this program.
#pragma once

#include <string_view>

namespace fairlead {

// Returns the version without a "v", such as "1.2.3": that of the tag if this is a release (./dev release), and
// otherwise that of the project.
std::string_view program_version();

}  // namespace fairlead
