// How rough a run is: what the network does to requests, and the cluster to itself. Drawn from a seed, so that some
// runs are calm and some have everything at once.
#pragma once

#include "sandbox/core/options.h"
#include "sim/faulty_transport.h"

namespace fairlead::sim {

// Begins after some time, lasts for some time, and again; each from nothing up to twice as long. Zero: never.
struct Spells {
  Duration every{};
  Duration lasts{};
};

struct Weather {
  Rates rates;
  sandbox::Options cluster;
  // An API server goes away, and comes back.
  Spells restarts;
  // The API forgets its history.
  Spells compactions;
  // A verb is forbidden.
  Spells forbidden;
};

// For everything there is. The cluster has no controllers unless the caller wants them.
Weather draw_weather(Random& random);

}  // namespace fairlead::sim
