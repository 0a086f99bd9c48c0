// Takes away what tools wrap around the text of an error, so that it can be recognised. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::retry {

// Removes escape sequences of terminals and the backslashes of quoted quotes, joins lines that stand in a box (as
// Terraform draws it, which breaks them at any space), and ends lines with \n alone.
std::string unwrapped(std::string_view output);

}  // namespace fairlead::retry
