#include "plan/adjacency.h"

#include <algorithm>

namespace fairlead::plan {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};

}  // namespace

void Adjacency::lay_out() {
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  fill_.assign(starts_.begin(), starts_.end() - 1);
  targets_.resize(starts_.back());
}

// Tarjan's algorithm without recursion, because a chain of nodes may be as long as the whole bundle.
std::vector<uint32_t> components(const Adjacency& adjacency) {
  struct Frame {
    uint32_t node = 0;
    uint32_t next = 0;
  };
  auto size = static_cast<uint32_t>(adjacency.size());
  std::vector<uint32_t> component(size, kNone);
  std::vector<uint32_t> seen(size, kNone);
  std::vector<uint32_t> lowest(size, 0);
  std::vector<uint32_t> open;
  std::vector<Frame> path;
  uint32_t time = 0;
  uint32_t found = 0;
  auto enter = [&](uint32_t node) {
    seen[node] = lowest[node] = time++;
    open.push_back(node);
    path.push_back({.node = node, .next = 0});
  };
  for (uint32_t root = 0; root < size; ++root) {
    if (seen[root] != kNone) continue;
    enter(root);
    while (!path.empty()) {
      Frame& frame = path.back();
      std::span<const uint32_t> targets = adjacency.from(frame.node);
      if (frame.next < targets.size()) {
        uint32_t target = targets[frame.next++];
        if (seen[target] == kNone) enter(target);
        else if (component[target] == kNone) lowest[frame.node] = std::min(lowest[frame.node], seen[target]);
        continue;
      }
      uint32_t node = frame.node;
      path.pop_back();
      if (!path.empty()) lowest[path.back().node] = std::min(lowest[path.back().node], lowest[node]);
      if (lowest[node] != seen[node]) continue;
      for (uint32_t member = kNone; member != node;) {
        member = open.back();
        open.pop_back();
        component[member] = found;
      }
      ++found;
    }
  }
  return component;
}

}  // namespace fairlead::plan
