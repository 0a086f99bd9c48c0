// Manifests that a program has rendered, read beside those of files.
#pragma once

#include "manifest/manifest.h"

namespace fairlead::manifest {

// No file has the lines of this text, so its objects have an origin without a line.
struct Text {
  // For people: "chart shop, templates/web.yaml".
  std::string origin;
  std::string content;
};

// Does the same as read(), and reads `rendered` after the sources.
Task<std::expected<Bundle, Errors>> read_with(std::vector<std::string> sources, Options options,
                                              std::vector<Text> rendered);

}  // namespace fairlead::manifest
