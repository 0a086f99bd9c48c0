// fairlead.yaml on the command line: what the file says stands in for flags that were not given.
//
// The file is used by commands that read manifests or take the name of a bundle, unless the command line itself names
// sources, an object, or another bundle: the file describes one bundle, and that one is not meant then. With --config
// it is used in any case.
#pragma once

#include <vector>

#include "cli/core/invocation.h"
#include "cli/core/parser.h"

namespace fairlead::cli {

inline constexpr const char* kConfigFile = "fairlead.yaml";

// Adds --config to the program. When a command line is parsed, the file fills in the flags of the command, before
// requirements between flags are checked, and `invocation.config` is set if the file is used. What is wrong with the
// file goes to `errors`. Both must live as long as `parser`.
void add_config(Parser& parser, Invocation& invocation, std::vector<Error>& errors);

}  // namespace fairlead::cli
