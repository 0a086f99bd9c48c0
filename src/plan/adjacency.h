// Directed graphs as flat arrays, and their strongly connected components. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fairlead::plan {

// The targets of every node, in one array. Filling it takes two passes over the edges: call count() for every edge,
// then lay_out() once, then add() for the same edges.
class Adjacency {
 public:
  explicit Adjacency(size_t nodes) : starts_(nodes + 1) {}
  void count(uint32_t from) { ++starts_[from + 1]; }
  void lay_out();
  // `to` may be any number, such as the index of an edge, as long as components() is not called.
  void add(uint32_t from, uint32_t to) { targets_[fill_[from]++] = to; }

  // The number of nodes.
  size_t size() const { return starts_.size() - 1; }
  // What was added for `node`, in the order of the calls.
  std::span<const uint32_t> from(uint32_t node) const {
    return std::span(targets_).subspan(starts_[node], starts_[node + 1] - starts_[node]);
  }

 private:
  std::vector<uint32_t> starts_;
  std::vector<uint32_t> fill_;
  std::vector<uint32_t> targets_;
};

// Returns the number of each node's strongly connected component: two nodes have the same number exactly if each can
// reach the other. A component has a smaller number than those that can reach it.
std::vector<uint32_t> components(const Adjacency& adjacency);

}  // namespace fairlead::plan
