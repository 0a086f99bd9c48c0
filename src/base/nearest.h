// The word that somebody may have meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

// How many letters must be added, removed, replaced or swapped with their neighbour to make one word of the other.
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that is most like `word`, upper and lower case alike; nothing if none is close enough to be meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace fairlead
