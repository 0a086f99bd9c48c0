// The data of a Graph. Needs and guard matches are stored flat, one node after the other.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"

namespace fairlead::graph {

struct Contents {
  size_t object_count = 0;
  plan::IdVector<NodeId, Node> nodes;
  std::vector<object::Key> keys;      // keys of the objects, with their namespaces
  std::vector<object::Key> outsides;  // by Node::index
  std::vector<std::string> names;     // names of waves and of all_of nodes, by Node::index
  plan::IdVector<GuardId, Guard> guards;

  // The needs of node n are needs[need_starts[n]] up to, but not including, needs[need_starts[n + 1]].
  std::vector<Need> needs;
  std::vector<uint32_t> need_starts;
  // Many objects are matched by the same guards, so each distinct set of matches is stored once.
  std::vector<GuardMatch> matches;
  std::vector<uint32_t> match_starts = {0, 0};
  plan::IdVector<NodeId, uint32_t> match_sets;  // number of the set of an object's matches, by object
  plan::IdVector<NodeId, uint32_t> guard_sets;  // the same without the guards that the object is exempt from

  std::vector<Exemption> exemptions;
  plan::IdVector<NodeId, bool> left_out;  // by object
  std::vector<Problem> problems;
  // The elements of this set never move, so needs can point to them.
  std::unordered_set<std::string> reasons;

  std::span<const GuardMatch> match_set(uint32_t set) const {
    return std::span(matches).subspan(match_starts[set], match_starts[set + 1] - match_starts[set]);
  }
  std::span<const GuardMatch> matches_of(NodeId object) const { return match_set(match_sets[object]); }
  std::string text(NodeId node) const;
  void add_problem(Severity severity, Error error, std::optional<NodeId> node = std::nullopt) {
    problems.push_back({.severity = severity, .error = std::move(error), .node = node});
  }
};

}  // namespace fairlead::graph
