// Text from elsewhere made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

// The text with everything that could play tricks on a terminal written out: control characters but the line feed and
// the tab (an escape is `\x1b`), marks that change the direction of writing (`\u202e`), and bytes that are no UTF-8.
// What a webhook or an API server says is printed through this.
std::string printable(std::string_view text);
// The same on one line: line feeds and tabs are written out as well. For names, and for lines that stand among ours.
std::string printable_line(std::string_view text);

}  // namespace fairlead
