// Values as the API server's messages show them: it is written in Go, and prints them with its verbs.
#pragma once

#include <string>

#include "base/json.h"

namespace fairlead::schema {

// %v: `x`, `1`, `map[a:1 b:2]`, `[1 2]`, `<nil>`.
std::string go_text(const Json& value);
// %#v: `"x"`, `1`, `map[string]interface {}{"a":1}`.
std::string go_syntax(const Json& value);
// %T of a value that was read from JSON: `string`, `int64`, `map[string]interface {}`.
std::string go_type(const Json& value);

}  // namespace fairlead::schema
