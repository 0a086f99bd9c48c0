// What is to be said at the end of a run.
#pragma once

#include "rollout/run.h"

namespace fairlead::rollout {

// From what the run knows; took, requests and what was pruned are the caller's.
Ending ending_of(const Run& run);

// The objects of a bundle of which nothing was sent.
std::vector<ObjectEnding> none_sent(const manifest::Bundle& bundle);

}  // namespace fairlead::rollout
