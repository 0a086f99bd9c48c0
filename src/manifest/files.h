// What a path stands for, and what is in a file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "async/task.h"
#include "base/error.h"

namespace fairlead::manifest {

// The path itself if it is a file; the manifests in it if it is a folder, in order of name, with those of its
// subfolders if wanted. Links to folders are followed at the top only, so that there are no loops.
Result<std::vector<std::string>> expand(const std::string& path, bool recursive, size_t max_files);

// Everything in it, or an error of kind `limit` if that is more than max_bytes. Pipes are read to their end.
Result<std::string> read_file(const std::string& path, size_t max_bytes);

// Until a read of that descriptor does not block. An error ends the reading.
using AwaitInput = std::function<Task<Result<void>>(int descriptor)>;
// The same for what is open already. Without `await`, each read blocks.
Task<Result<std::string>> read_descriptor(int descriptor, std::string name, size_t max_bytes, AwaitInput await);

}  // namespace fairlead::manifest
