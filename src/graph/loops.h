// Loops in directed graphs, and what becomes of them here: loops of hard needs are errors, soft needs that close one
// go.
#pragma once

#include <span>
#include <vector>

#include "graph/graph_builder.h"

namespace fairlead::graph {

// The ways out of each node, flat.
class Links {
 public:
  explicit Links(size_t nodes) : starts_(nodes + 1) {}
  // All counts first, then all links.
  void count(uint32_t from) { ++starts_[from + 1]; }
  void lay_out();
  void add(uint32_t from, uint32_t to) { targets_[fill_[from]++] = to; }

  size_t size() const { return starts_.size() - 1; }
  std::span<const uint32_t> from(uint32_t node) const {
    return std::span(targets_).subspan(starts_[node], starts_[node + 1] - starts_[node]);
  }

 private:
  std::vector<uint32_t> starts_;
  std::vector<uint32_t> fill_;
  std::vector<uint32_t> targets_;
};

// Nodes that can reach each other have the same number.
std::vector<uint32_t> components(const Links& links);

// Reports loops of hard needs, and takes the soft needs out that close others.
void resolve_loops(GraphBuilder& builder);

}  // namespace fairlead::graph
