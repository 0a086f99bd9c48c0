// Chance that belongs to one thing alone: what is drawn for it does not depend on what is drawn for others.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "sandbox/core/random.h"

namespace fairlead::sim {

using Random = sandbox::Random;

// For the thing of that number at that source.
Random dice(uint64_t seed, std::string_view source, uint64_t number = 0);

// From nothing up to below `limit`, in microseconds.
Duration some_time(Random& random, Duration limit);

}  // namespace fairlead::sim
