// Reads a pipeline from the text of its file.
//
// The text is hostile: unknown keys, values of the wrong type, missing values and needs that make no sense are errors,
// each with file:line:column. Every error is returned, not only the first. Paths in the text are relative to its file,
// and are returned relative to the current directory.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pipeline/pipeline.h"

namespace fairlead::pipeline {

// What the command line adds to the values of a pipeline: files, and then single values as --set takes them.
struct Overrides {
  std::vector<std::string> files;
  std::vector<std::string> sets;
};

// Returns the content of a file. Fails if it cannot be read or is larger than 1 MiB.
Result<std::string> read_file(const std::string& path);

// `file` is the name of the file that the text was read from, and `read` reads files of values.
std::expected<Pipeline, std::vector<Error>> parse(std::string_view text, const std::string& file,
                                                  const Overrides& overrides,
                                                  const std::function<Result<std::string>(const std::string&)>& read);

// For completion: the phases of that file, as far as it can be read.
std::vector<std::string> phase_names(const std::string& file);

// Reads the pipeline of that file.
std::expected<Pipeline, std::vector<Error>> load(const std::string& file, const Overrides& overrides);

}  // namespace fairlead::pipeline
