// Helpers for this room's tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "manifest/manifest_testing.h"

namespace fairlead::graph {

inline manifest::Bundle bundle_of(std::string_view text, const std::string& name = "b.yaml") {
  return manifest::bundle_of(text, name);
}

// Reads one object of the cluster.
inline Json live(std::string_view text) {
  manifest::Bundle bundle = bundle_of(text, "cluster");
  return bundle.objects.empty() ? Json() : std::move(bundle.objects[0]).take_value();
}

inline Graph graph_of(std::string_view text, const ClusterState& cluster = {}) {
  return Graph::build(bundle_of(text), cluster);
}

// For example "Deployment team/web -> ConfigMap team/data: volume data". " ready" and " soft" are added to such needs.
inline std::vector<std::string> needs_of(const Graph& graph) {
  std::vector<std::string> lines;
  for (NodeId node : graph.nodes().ids())
    for (const Need& need : graph.needs_of(node))
      lines.push_back(fmt::format("{} -> {}{}{}: {}", graph.text(node), graph.text(need.target),
                                  need.level == Level::ready ? " ready" : "", need.hard ? "" : " soft", need.reason));
  return lines;
}

inline std::string reports_of(const Graph& graph) {
  std::string text;
  for (const Problem& problem : graph.problems()) {
    std::string report = problem.error.report();
    constexpr std::string_view kError = "error: ";
    if (problem.severity == Severity::warning) report.replace(0, kError.size(), "warning: ");
    if (problem.severity == Severity::note) report.replace(0, kError.size(), "note: ");
    text += report;
  }
  return text;
}

// True if the nodes can be ordered so that every node comes after those that it needs.
inline bool has_order(const Graph& graph) {
  plan::IdVector<NodeId, size_t> open(graph.nodes().size());
  plan::IdVector<NodeId, std::vector<NodeId>> needed_by(open.size());
  std::vector<NodeId> free;
  for (NodeId node : graph.nodes().ids()) {
    open[node] = graph.needs_of(node).size();
    for (const Need& need : graph.needs_of(node)) needed_by[need.target].push_back(node);
    if (open[node] == 0) free.push_back(node);
  }
  size_t done = 0;
  while (!free.empty()) {
    NodeId node = free.back();
    free.pop_back();
    ++done;
    for (NodeId needer : needed_by[node])
      if (--open[needer] == 0) free.push_back(needer);
  }
  return done == graph.nodes().size();
}

// Returns "OBJECT: GUARD" for each guard that matches an object and that the object does not wait for.
inline std::vector<std::string> exemptions_of(const Graph& graph) {
  std::vector<std::string> lines;
  for (NodeId i : graph.objects())
    for (const GuardMatch& match : graph.matches_of(i))
      if (std::ranges::none_of(graph.guards_of(i), [&](const GuardMatch& one) { return one.guard == match.guard; }))
        lines.push_back(graph.text(i) + ": " + graph.guards()[match.guard].name);
  return lines;
}

}  // namespace fairlead::graph
