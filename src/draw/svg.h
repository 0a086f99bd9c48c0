// A picture as a drawing: one self-contained SVG document, in light and dark.
#pragma once

#include <string>

#include "draw/picture.h"

namespace fairlead::draw {

// What is sent first is on the left; a line runs from each box to those that wait for it. Needs that follow from others
// are not drawn. More than 200 boxes are grouped (groups.h).
std::string as_svg(const Picture& picture);

}  // namespace fairlead::draw
