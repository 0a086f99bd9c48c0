// What a graph holds. Needs, what needs a node, and meetings lie flat, one behind the other.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"

namespace fairlead::graph {

struct Contents {
  size_t object_count = 0;
  std::vector<Node> nodes;
  std::vector<object::Key> keys;      // of objects, with their namespaces
  std::vector<object::Key> outsides;  // by Node::index
  std::vector<std::string> names;     // of waves and of all_of, by Node::index
  std::vector<Guard> guards;

  // The needs of node n are needs[need_starts[n]] up to need_starts[n + 1]; the same with the others.
  std::vector<Need> needs;
  std::vector<uint32_t> need_starts;
  std::vector<uint32_t> needers;
  std::vector<uint32_t> needer_starts;
  // Many objects meet the same guards: such a set is kept once.
  std::vector<Meeting> meetings;
  std::vector<uint32_t> meeting_starts = {0, 0};
  std::vector<uint32_t> meeting_sets;  // by object

  std::vector<Exemption> exemptions;
  std::vector<bool> left_out;
  std::vector<Problem> problems;
  // A node of this set stays where it is, so needs can point into it.
  std::unordered_set<std::string> reasons;

  std::span<const Meeting> meetings_of(uint32_t object) const {
    uint32_t set = meeting_sets[object];
    return std::span(meetings).subspan(meeting_starts[set], meeting_starts[set + 1] - meeting_starts[set]);
  }
  std::string text(uint32_t node) const;
  void add_problem(Severity severity, Error error, std::optional<uint32_t> node = std::nullopt) {
    problems.push_back({.severity = severity, .error = std::move(error), .node = node});
  }
};

}  // namespace fairlead::graph
