// The manifests that a command was given.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "base/real_loop.h"
#include "base/task.h"
#include "manifest/manifest.h"

namespace fairlead::cli {

// What is wrong with them is reported, all of it, and there is an exit code in place of a bundle. Each address has the
// time-out of the run (zero: no limit) to answer, and a minute at most; standard input has all the time that it takes.
Task<std::expected<manifest::Bundle, int>> read_sources(RealLoop& loop, const std::vector<std::string>& sources,
                                                        bool recursive, Duration timeout, CancelSource* stop);

}  // namespace fairlead::cli
