// What the real server's YAML reader says to a text that is no YAML.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::sandbox {

// "line 1: did not find expected node content"; nothing if there is no flaw in its syntax.
std::optional<std::string> go_yaml_error(std::string_view text);

}  // namespace fairlead::sandbox
