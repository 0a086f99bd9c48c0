// Files, folders, stdin and addresses into a Bundle of objects, each with the file and line that it came from.
//
// This is the room's first header. The room reads what kubectl reads, in the order given; lists are taken apart. It
// reports every error that it finds, not only the first. It does no network (addresses go through a function that is
// passed in) and never asks a cluster: kinds that nobody serves, namespaces and schemas are somebody else's.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "base/error.h"
#include "object/field_path.h"
#include "object/object.h"
#include "yaml/yaml.h"

namespace fairlead::manifest {

// The objects that are rolled out together.
struct Bundle {
  std::vector<object::Object> objects;
};

using Errors = std::vector<Error>;

struct Limits {
  size_t total_bytes = size_t{256} << 20;
  size_t files = 100'000;
  // In all documents together: what bounds the memory that they take.
  size_t values = 40'000'000;
  // Errors that are kept; one more says that there were others.
  size_t errors = 20;
  yaml::Limits yaml;
};

// Gets what is at an http or https address, at most `max_bytes` of it (else an error of kind `limit`).
using Fetch = std::function<Task<Result<std::string>>(std::string address, size_t max_bytes)>;

struct Options {
  // Folders with their subfolders.
  bool recursive = false;
  // Without one, an address is an error.
  Fetch fetch;
  // What "-" stands for.
  int standard_input = STDIN_FILENO;
  // Before each read of standard input: until that does not block. Without one, reads block.
  std::function<Task<Result<void>>(int descriptor)> await_input;
  Limits limits;
};

// Each source is a file, a folder (its *.yaml, *.yml and *.json, in order of name), "-", or an http(s) address.
// No objects at all is an error.
Task<std::expected<Bundle, Errors>> read(std::vector<std::string> sources, Options options);

// The position of a field of an object that was read from a file, by reading the file again; the object's own position
// where that cannot be done.
object::Source locate(const object::Source& source, const object::FieldPath& path);

}  // namespace fairlead::manifest
