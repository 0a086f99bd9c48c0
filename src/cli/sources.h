// The manifests that a command was given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/real_loop.h"
#include "base/task.h"
#include "manifest/manifest.h"

namespace fairlead::cli {

// What is wrong with them is reported, all of it, and there is no bundle.
Task<std::optional<manifest::Bundle>> read_sources(RealLoop& loop, const std::vector<std::string>& sources,
                                                   bool recursive, CancelSource* stop);

}  // namespace fairlead::cli
