// Decides which targets are deleted after which others: whatever removes a finalizer, or admits the update that does
// so, is deleted after the objects that have the finalizer. Pure.
//
// Custom resources, objects with foreign finalizers, and objects whose deletion is guarded by a webhook of the targets
// are deleted first; then CRDs and APIServices; then webhook configurations; then everything else at once: workloads,
// Services, rights and configuration. Each Namespace is deleted after everything in it, or together with it. Within
// this order, each target waits only for the targets that concern it. Orders that people wrote down (depends-on, waves,
// fairlead.dev/needs) are reversed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "object/key.h"
#include "object/resource.h"
#include "plan/id.h"

namespace fairlead::removal {

using plan::NodeId;

// A target as it is in the cluster. For most kinds only the metadata is needed; CRDs, APIServices and webhook
// configurations are needed completely.
struct LiveTarget {
  object::Key key;
  object::Resource resource;
  const Json* live = nullptr;
  // For a CRD: it has instances that are not among the targets, or it is not known whether it has. They are deleted
  // with it.
  bool takes_others = false;
  // For a Namespace: nothing in it stays, and nobody may refuse its deletion. It can be deleted before it is empty.
  bool at_once = false;
};

// `later` is deleted after `sooner` was deleted.
struct Edge {
  enum class Strength : uint8_t {
    must,    // required by how the API works
    wished,  // written down by people
    better,  // dropped if it contradicts another edge
  };
  NodeId later;
  NodeId sooner;
  Strength strength = Strength::must;
  std::string reason;
};

struct Order {
  // Nodes below `targets` are the targets, in their order. The nodes after them are groups: a group is done when
  // everything that it waits for is deleted.
  size_t targets = 0;
  std::vector<std::string> groups;
  std::vector<Edge> edges;
  // Orders that people wrote down and that could not be kept.
  std::vector<std::string> notes;

  size_t nodes() const { return targets + groups.size(); }
};

// Returns an order without loops.
Order order_of(const plan::IdVector<NodeId, LiveTarget>& targets);

// Removes edges until there are no loops: first those of strength `better`, then those of strength `wished`. Adds a
// note for each reason of a wished edge that is removed.
void break_loops(Order& order);

}  // namespace fairlead::removal
