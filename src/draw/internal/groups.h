// Makes a large picture small enough to be looked at: boxes that are alike become one.
#pragma once

#include "draw/picture.h"

namespace fairlead::draw {

// Joins boxes until there are about `most` or fewer: first those of one kind and namespace that need the same and are
// needed by the same, then those of one kind, namespace and rank, then those of one kind and rank. The name of a joined
// box says how many there are. A picture that is small enough stays as it is.
Picture grouped(const Picture& picture, size_t most);

// Leaves out each arrow that follows from others: if a needs b and c, and b needs c, then "a needs c" goes.
Picture without_implied(const Picture& picture);

}  // namespace fairlead::draw
