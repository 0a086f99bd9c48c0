// Writes a JSON value as YAML.
#pragma once

#include <string>

#include "base/json.h"

namespace fairlead::diff {

// Returns the value as YAML, as kubectl prints it: members sorted by name, one value per line, lists not indented.
// Texts of several lines become blocks. The same value always gives the same text, whatever the order of its members.
std::string yaml_text(const Json& value);

}  // namespace fairlead::diff
