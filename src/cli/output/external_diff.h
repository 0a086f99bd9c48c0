// Shows the differences of a plan with a program of the user's choice: KUBECTL_EXTERNAL_DIFF, as kubectl does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "async/real_loop.h"
#include "async/task.h"
#include "rollout/rollout.h"

namespace fairlead::cli {

// Returns the program and its arguments from the environment; empty if the user chose none. As in kubectl, arguments
// may only consist of letters, digits, dashes and equal signs; others are left out.
std::vector<std::string> external_diff();

// Writes the objects of a plan to two folders, LIVE and MERGED, and runs the program with the two folders. The folders
// can be read by the user only, and are deleted afterwards. Fails if the program cannot be run, or ends with more
// than 1.
Task<Result<void>> run_external_diff(RealLoop& loop, std::vector<std::string> program, const rollout::Ending& ending);

}  // namespace fairlead::cli
