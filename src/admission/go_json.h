// Reads texts as Go's JSON decoder does. The API server passes its errors on when a webhook's answer is not JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::admission {

// Returns the text without white space around it, as strings.TrimSpace does.
std::string_view trimmed(std::string_view text);

// Returns the decoder's error; nothing if the text is JSON.
std::optional<std::string> go_syntax_error(std::string_view text);

}  // namespace fairlead::admission
