// Who works on a bundle: how this process calls itself in a claim, and whether another one of this machine is gone.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::cli {

// "ann@laptop, process 4711"
std::string own_holder();
// A process of this machine that is not there any more.
bool is_gone(std::string_view holder);

}  // namespace fairlead::cli
