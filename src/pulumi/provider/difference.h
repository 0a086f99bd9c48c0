// What differs between two values, as Pulumi shows it: paths of properties. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "protobuf/wire.h"

namespace fairlead::pulumi {

struct Difference {
  enum class Kind { add, remove, update };
  // `manifest.spec["a.b"][0]`
  std::string path;
  Kind kind = Kind::update;
  // Whether the former value is an input; otherwise it is an output.
  bool is_input = true;
  bool replaces = false;
};

// The differences inside of two values; `path` leads to them. Marks of secrets and outputs do not count.
std::vector<Difference> differences(const Json& before, const Json& after, const std::string& path);

// `path` with a further name.
std::string with_name(const std::string& path, std::string_view name);

// The first property of a path.
std::string top_of(const std::string& path);

}  // namespace fairlead::pulumi
