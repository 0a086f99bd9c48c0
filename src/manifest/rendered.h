// Manifests that are in no file, such as those that a program has rendered, read beside those of files.
#pragma once

#include "manifest/manifest.h"

namespace fairlead::manifest {

// Nobody has the lines of what a program has rendered, so its objects have an origin without a line.
struct Text {
  // For people: "chart shop, templates/web.yaml".
  std::string origin;
  std::string content;
  // The user wrote it like this.
  bool has_lines = false;
};

// Does the same as read(), and reads `rendered` after the sources.
Task<std::expected<Bundle, Errors>> read_with(std::vector<std::string> sources, Options options,
                                              std::vector<Text> rendered);

}  // namespace fairlead::manifest
