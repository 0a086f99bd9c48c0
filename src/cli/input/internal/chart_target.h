// What helm has to know about the cluster that a chart is rendered for.
#pragma once

#include <string>

#include "async/real_loop.h"
#include "async/task.h"
#include "cli/core/globals.h"
#include "render/render.h"

namespace fairlead::cli {

// Reads the version of the cluster, what it serves, and whether the bundle `name` (none if empty) is installed, over a
// connection of its own. Fails if a global flag was given that helm has no counterpart for. With `offline`, no cluster
// is contacted, and only the namespace is set.
Task<Result<render::Target>> find_target(RealLoop& loop, const Globals& globals, std::string name, bool offline);

}  // namespace fairlead::cli
