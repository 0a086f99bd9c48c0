// What Go's JSON decoder says about a text that is none: the API server passes it on when a webhook answers nonsense.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::admission {

// The text without white space around it, as strings.TrimSpace gives it.
std::string_view trimmed(std::string_view text);

// Nothing if the syntax is right.
std::optional<std::string> go_syntax_error(std::string_view text);

// "string", "number", "bool", "array", "object", "null"
std::string_view go_kind(const Json& value);

}  // namespace fairlead::admission
