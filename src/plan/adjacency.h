// Directed graphs as flat arrays, and their strongly connected components. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/id.h"

namespace fairlead::plan {

// The targets of every node, in one array. `To` is the type of their ids, for example those of other nodes or of edges.
// Filling it takes two passes over the edges: call count() for every edge, then lay_out() once, then add() for the same
// edges.
template <class To>
class Adjacency {
 public:
  explicit Adjacency(size_t nodes) : starts_(nodes + 1) {}
  void count(NodeId from) { ++starts_[from.index() + 1]; }
  void lay_out() {
    for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    fill_.assign(starts_.begin(), starts_.end() - 1);
    targets_.resize(starts_.back());
  }
  void add(NodeId from, To to) { targets_[fill_[from.index()]++] = to; }

  // The number of nodes.
  size_t size() const { return starts_.size() - 1; }
  // What was added for `node`, in the order of the calls.
  std::span<const To> from(NodeId node) const {
    size_t start = starts_[node.index()];
    return std::span(targets_).subspan(start, starts_[node.index() + 1] - start);
  }

 private:
  std::vector<uint32_t> starts_;
  std::vector<uint32_t> fill_;
  std::vector<To> targets_;
};

// Returns the number of each node's strongly connected component: two nodes have the same number exactly if each can
// reach the other. A component has a smaller number than those that can reach it.
IdVector<NodeId, uint32_t> components(const Adjacency<NodeId>& adjacency);

}  // namespace fairlead::plan
