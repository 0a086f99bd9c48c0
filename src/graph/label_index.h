// The workloads of a bundle by the labels of their pods, so that a selector finds them without looking at all of them.
#pragma once

#include <unordered_map>
#include <vector>

#include "graph/graph_builder.h"

namespace fairlead::graph {

class LabelIndex {
 public:
  explicit LabelIndex(const GraphBuilder& builder);

  // Those whose pods have all these labels; `labels` is an object of strings. Nothing for no labels. At most kMost: a
  // selector that takes in more than that does not say what answers behind it.
  std::vector<uint32_t> find(std::string_view ns, const Json& labels) const;
  static constexpr size_t kMost = 256;
  // How many are looked at for that.
  static constexpr size_t kTried = 4096;

 private:
  const GraphBuilder& builder_;
  // The name of a label is the group here, its value the name.
  std::unordered_map<KeyView, std::vector<uint32_t>, KeyView::Hash> workloads_;
};

// The objects of the bundle that a policy's binding takes its parameters from: the one that it names, those that it
// selects by labels, or, where it gives no namespace, those of that name in any namespace.
std::vector<uint32_t> find_parameters(const GraphBuilder& builder, const Json& param_kind, const Json& param_ref);

}  // namespace fairlead::graph
