// Who goes after whom: what removes a finalizer, or admits the update that does, outlives what carries it. Pure.
//
// Custom resources, objects with finalizers of others and objects whose deletion a webhook of the targets guards go
// first; then CRDs and APIServices; then webhook configurations; then everything else at once, workloads, Services,
// rights and configuration; each Namespace after all that is in it, or beside it. Within that, each waits only for what
// concerns it. What people have written down (depends-on, waves, fairlead.dev/needs) holds the other way round.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "object/key.h"
#include "object/resource.h"

namespace fairlead::removal {

// A target as it is in the cluster. Of most kinds only the metadata is needed; of CRDs, APIServices and webhook
// configurations all of it.
struct LiveTarget {
  object::Key key;
  object::Resource resource;
  const Json* live = nullptr;
  // Of a CRD: it has instances that are not among the targets, or that is not known. They go with it.
  bool takes_others = false;
  // Of a Namespace: nothing in it stays, and nobody may refuse that it goes. It need not be empty before it is told to.
  bool at_once = false;
};

// `later` goes once `sooner` is gone.
struct Edge {
  enum class Strength : uint8_t {
    must,    // follows from what the API does
    wished,  // written down by people
    better,  // given up where it contradicts something else
  };
  uint32_t later = 0;
  uint32_t sooner = 0;
  Strength strength = Strength::must;
  std::string reason;
};

struct Order {
  // Numbers below `things` are the things, in order; those behind them are groups: gone when all that they wait for is.
  uint32_t targets = 0;
  std::vector<std::string> groups;
  std::vector<Edge> edges;
  // What could not be kept.
  std::vector<std::string> notes;

  uint32_t nodes() const { return targets + uint32_t(groups.size()); }
};

// Has no loops.
Order order_of(const std::vector<LiveTarget>& targets);

// Takes away edges until there are no loops: first those that are only better, then wishes. Each wish that is taken
// away is a note.
void break_loops(Order& order);

}  // namespace fairlead::removal
