// Takes a closer look at objects that could not be deleted, when the run is over.
#pragma once

#include "removal/run.h"

namespace fairlead::removal {

// Adds findings (readiness/closer_look.h) to the causes of the ending, which are those of the run: about each object
// that is still there, and about what seems to hold it up. An object that several causes share is looked at once. Sends
// a limited number of requests, for a limited time; what cannot be read is left out.
Task<void> look_closer(kube::Client& client, const Run& run, Ending& ending);

}  // namespace fairlead::removal
