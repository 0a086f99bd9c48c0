#include "graph/annotations.h"
#include "graph/draft.h"
#include "graph/findings.h"
#include "graph/gates.h"
#include "graph/guards.h"
#include "graph/loops.h"
#include "graph/meetings.h"
#include "graph/references.h"
#include "graph/waves.h"

namespace fairlead::graph {
namespace {

void count_up(std::vector<uint32_t>& starts) {
  for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
}

// Edges by the node that they come from, and one need where there are several for the same target: the strongest.
void lay_out(Draft& draft) {
  Contents& contents = *draft.contents;
  size_t nodes = contents.nodes.size();
  std::vector<uint32_t> starts(nodes + 1);
  for (const Edge& edge : draft.edges) ++starts[edge.from + 1];
  count_up(starts);
  std::vector<const Edge*> sorted(draft.edges.size());
  std::vector<uint32_t> fill(starts.begin(), starts.end() - 1);
  for (const Edge& edge : draft.edges) sorted[fill[edge.from]++] = &edge;

  contents.needs.reserve(sorted.size());
  contents.need_starts.assign(1, 0);
  std::vector<uint32_t> seen(nodes, kNone);  // where its target's need is, for the node in hand
  for (uint32_t node = 0; node < nodes; ++node) {
    auto first = static_cast<uint32_t>(contents.needs.size());
    for (uint32_t e = starts[node]; e < starts[node + 1]; ++e) {
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

  contents.needer_starts.assign(nodes + 1, 0);
  for (const Need& need : contents.needs) ++contents.needer_starts[need.target + 1];
  count_up(contents.needer_starts);
  contents.needers.resize(contents.needs.size());
  fill.assign(contents.needer_starts.begin(), contents.needer_starts.end() - 1);
  for (uint32_t node = 0; node < nodes; ++node)
    for (uint32_t n = contents.need_starts[node]; n < contents.need_starts[node + 1]; ++n)
      contents.needers[fill[contents.needs[n].target]++] = node;
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
  Draft draft(bundle, cluster, options);
  // Nodes of guards come right behind the objects, so they are the first to be added.
  std::vector<Watcher> watchers = add_guards(draft);
  add_references(draft);
  add_stands(draft);
  find_meetings(draft, watchers);
  find_steps(draft);
  add_gates(draft);
  add_annotated(draft);
  add_waves(draft);
  resolve_loops(draft);
  find_missing(draft);
  find_interceptions(draft);
  lay_out(draft);
  worst_first(draft.contents->problems);
  return Graph(std::move(draft.contents));
}

}  // namespace fairlead::graph
