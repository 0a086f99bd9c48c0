// Running a program and hearing what it writes while it runs.
#pragma once

#include <functional>
#include <string_view>

#include "async/process.h"

namespace fairlead {

// Called with what the program writes, as it comes, until the run is over.
struct ProcessListener {
  std::function<void(std::string_view piece)> on_output = {};
  std::function<void(std::string_view piece)> on_errors = {};
};

// As run_process, but there is no limit to the program's output, of which the last max_output bytes are kept.
Task<Result<ProcessResult>> run_listening(RealLoop& loop, ProcessSpec spec, ProcessListener listener);

}  // namespace fairlead
