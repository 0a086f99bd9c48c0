// Takes away what tools wrap around the text of an error, so that it can be recognised. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::retry {

// Removes escape sequences of terminals and the backslashes of quoted quotes, joins lines that Terraform has broken (at
// any space: in the boxes that it draws, and without colours below "Error: "), and ends lines with \n alone.
std::string unwrapped(std::string_view output);

}  // namespace fairlead::retry
