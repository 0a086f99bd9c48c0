// Bytes of a file into UTF-8 text: byte order marks, UTF-16.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fairlead::yaml {

// Without its byte order mark. Text in UTF-16 (always with a mark) is written into `converted`, and a view of that is
// returned; otherwise the view is of `bytes`. Malformed UTF-16 is an error; UTF-8 is not checked here.
Result<std::string_view> decode(std::string_view bytes, std::string_view name, std::string& converted);

}  // namespace fairlead::yaml
