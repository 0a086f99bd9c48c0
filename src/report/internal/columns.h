// How much room a text takes on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead::report {

// Returns the number of columns of a text in UTF-8. Wide characters, as in Chinese and Japanese, take two columns;
// combining marks take none.
size_t columns_of(std::string_view text);

// Returns the text if it fits into so many columns, or else its beginning with "…" at the end.
std::string cut_to(std::string_view text, size_t columns);

// Returns the text with as many spaces behind it as it needs to fill the columns, cut if it is longer.
std::string padded_to(std::string_view text, size_t columns);

}  // namespace fairlead::report
