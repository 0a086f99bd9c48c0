// Text from the other side, made fit for a terminal and a log: valid UTF-8, one line, no control characters, bounded.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead {

// Line breaks and tabs become spaces, other control characters and bad bytes `?`; what is longer than `max` bytes is
// cut between characters and ends in `…`. Spaces at both ends go.
std::string plain_text(std::string_view text, size_t max);

}  // namespace fairlead
