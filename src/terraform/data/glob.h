// Files that a pattern matches: "k8s/*.yaml", "k8s/**/*.yaml".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fairlead::terraform {

// `*`, `?` and `[a-z]` match within a name, and `**` matches any number of folders. Files come sorted. Links to folders
// are not followed. No file at all is an error.
Result<std::vector<std::string>> files_matching(std::string_view pattern);

}  // namespace fairlead::terraform
