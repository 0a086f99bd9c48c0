#include "plan/adjacency.h"

#include <algorithm>

namespace fairlead::plan {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};

}  // namespace

// Tarjan's algorithm without recursion, because a chain of nodes may be as long as the whole bundle.
IdVector<NodeId, uint32_t> components(const Adjacency<NodeId>& adjacency) {
  struct Frame {
    NodeId node;
    uint32_t next = 0;
  };
  size_t size = adjacency.size();
  IdVector<NodeId, uint32_t> component(size, kNone);
  IdVector<NodeId, uint32_t> seen(size, kNone);
  IdVector<NodeId, uint32_t> lowest(size, 0);
  std::vector<NodeId> open;
  std::vector<Frame> path;
  uint32_t time = 0;
  uint32_t found = 0;
  auto enter = [&](NodeId node) {
    seen[node] = lowest[node] = time++;
    open.push_back(node);
    path.push_back({.node = node, .next = 0});
  };
  for (NodeId root : component.ids()) {
    if (seen[root] != kNone) continue;
    enter(root);
    while (!path.empty()) {
      Frame& frame = path.back();
      std::span<const NodeId> targets = adjacency.from(frame.node);
      if (frame.next < targets.size()) {
        NodeId target = targets[frame.next++];
        if (seen[target] == kNone) enter(target);
        else if (component[target] == kNone) lowest[frame.node] = std::min(lowest[frame.node], seen[target]);
        continue;
      }
      NodeId node = frame.node;
      path.pop_back();
      if (!path.empty()) lowest[path.back().node] = std::min(lowest[path.back().node], lowest[node]);
      if (lowest[node] != seen[node]) continue;
      NodeId member;
      do {
        member = open.back();
        open.pop_back();
        component[member] = found;
      } while (member != node);
      ++found;
    }
  }
  return component;
}

}  // namespace fairlead::plan
