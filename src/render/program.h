// Runs one program, and turns what went wrong into an error that people understand.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async/process.h"

namespace fairlead::render {

struct Program {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment = {};
  size_t max_output = size_t{256} << 20;
};

// Returns the result if the program could be started, however it ended. A program that is not installed is an error of
// kind `not_found`.
Task<Result<ProcessResult>> run(RealLoop& loop, Program program);

// What the program wrote to standard error, line by line, without empty lines.
std::vector<std::string> lines_of(std::string_view text);

// The error of a program that failed: `what`, because of the last lines that it wrote to standard error.
Error failed(std::string what, const ProcessResult& result);

}  // namespace fairlead::render
