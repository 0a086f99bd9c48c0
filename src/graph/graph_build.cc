#include "graph/internal/annotations.h"
#include "graph/internal/findings.h"
#include "graph/internal/graph_builder.h"
#include "graph/internal/guard_matches.h"
#include "graph/internal/guard_needs.h"
#include "graph/internal/guards.h"
#include "graph/internal/loops.h"
#include "graph/internal/references.h"
#include "graph/internal/waves.h"

namespace fairlead::graph {
namespace {

void count_up(std::vector<uint32_t>& starts) {
  for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
}

// Sorts the edges by the node that they start from. Several edges with the same target become one need, which is hard
// if one of them is, and has the highest of their levels.
void lay_out(GraphBuilder& builder) {
  Contents& contents = *builder.contents;
  size_t nodes = contents.nodes.size();
  std::vector<uint32_t> starts(nodes + 1);
  for (const Edge& edge : builder.edges) ++starts[edge.from.index() + 1];
  count_up(starts);
  std::vector<const Edge*> sorted(builder.edges.size());
  std::vector<uint32_t> fill(starts.begin(), starts.end() - 1);
  for (const Edge& edge : builder.edges) sorted[fill[edge.from.index()]++] = &edge;

  contents.needs.reserve(sorted.size());
  contents.need_starts.assign(1, 0);
  plan::IdVector<NodeId, uint32_t> seen(nodes,
                                        kNone);  // by target: the position of its need, valid if not before `first`
  for (NodeId node : contents.nodes.ids()) {
    auto first = static_cast<uint32_t>(contents.needs.size());
    for (uint32_t e = starts[node.index()]; e < starts[node.index() + 1]; ++e) {
      const Edge& edge = *sorted[e];
      uint32_t& place = seen[edge.to];
      if (place == kNone || place < first) {
        place = static_cast<uint32_t>(contents.needs.size());
        contents.needs.push_back({.target = edge.to, .level = edge.level, .hard = edge.hard, .reason = *edge.reason});
      } else {
        Need& need = contents.needs[place];
        need.level = std::max(need.level, edge.level);
        need.hard |= edge.hard;
      }
    }
    contents.need_starts.push_back(static_cast<uint32_t>(contents.needs.size()));
  }
}

void worst_first(std::vector<Problem>& problems) {
  std::vector<Problem> sorted;
  sorted.reserve(problems.size());
  for (Severity severity : {Severity::error, Severity::warning, Severity::note})
    for (const Problem& problem : problems)
      if (problem.severity == severity) sorted.push_back(problem);
  problems = std::move(sorted);
}

}  // namespace

Graph Graph::build(const manifest::Bundle& bundle, const ClusterState& cluster, const Options& options) {
  GraphBuilder builder(bundle, cluster, options);
  // The nodes of guards follow the objects directly, so they are added first.
  plan::IdVector<GuardId, GuardMatcher> matchers = add_guards(builder);
  add_references(builder);
  add_backing(builder);
  find_guard_matches(builder, matchers);
  find_steps(builder);
  add_guard_needs(builder);
  add_annotated(builder);
  add_waves(builder);
  resolve_loops(builder);
  find_missing(builder);
  find_interceptions(builder);
  lay_out(builder);
  worst_first(builder.contents->problems);
  return Graph(std::move(builder.contents));
}

}  // namespace fairlead::graph
