// What the commands share that serve until they are asked to stop.
#pragma once

#include <string_view>

namespace fairlead::cli {

// Writes lines of a log to standard output. A log that cannot be written is no reason to stop serving: where its reader
// has stopped reading, lines are dropped.
void write_log_lines(std::string_view lines);

}  // namespace fairlead::cli
