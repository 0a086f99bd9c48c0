// Indexes the workloads of a bundle by the labels of their pods, so that a selector does not have to be compared with
// every workload.
#pragma once

#include <unordered_map>
#include <vector>

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {

class LabelIndex {
 public:
  explicit LabelIndex(const GraphBuilder& builder);

  // Returns the workloads in `ns` whose pods have all of these labels. `labels` is a JSON object of strings; if it is
  // empty, nothing is returned. At most kMost are returned: a selector that matches more does not tell which of them
  // answers.
  std::vector<NodeId> find(std::string_view ns, const Json& labels) const;
  static constexpr size_t kMost = 256;
  // The number of candidates that find() looks at.
  static constexpr size_t kTried = 4096;

 private:
  const GraphBuilder& builder_;
  // By namespace and label: KeyView::group is the label's name, and KeyView::name its value.
  std::unordered_map<KeyView, std::vector<NodeId>, KeyView::Hash> workloads_;
};

// Returns the objects of the bundle that a policy binding takes its parameters from: those with the name in
// `param_ref`, or if it has none, those that its selector matches. Without a namespace in `param_ref`, all namespaces
// are searched.
std::vector<NodeId> find_parameters(const GraphBuilder& builder, const Json& param_kind, const Json& param_ref);

}  // namespace fairlead::graph
