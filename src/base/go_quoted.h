// A text in quotes as Go's %q has it, which is how the API server quotes names and values in its messages.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

std::string go_quoted(std::string_view text);

}  // namespace fairlead
