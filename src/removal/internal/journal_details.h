// What a journal holds of a removal for readers that want every detail: the graph and the result.
#pragma once

#include "base/json.h"
#include "removal/run.h"

namespace fairlead::removal {

// Returns the details of the `graph` event (journal/graph_details.h). Requires that the order is known.
Json graph_details(const Run& run);

// Returns the details of the `ended` event (journal/ending_details.h).
Json ending_details(const Ending& ending, const Secrets& secrets);

}  // namespace fairlead::removal
