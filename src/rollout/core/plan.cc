#include "rollout/core/plan.h"

namespace fairlead::rollout {

using graph::Node;

namespace {

plan::Role role_of(const graph::Graph& graph, NodeId node) {
  switch (graph.nodes()[node].kind) {
    case Node::Kind::object: return graph.is_left_out(node) ? plan::Role::excluded : plan::Role::work;
    case Node::Kind::guard:
    case Node::Kind::outside: return plan::Role::helper;
    case Node::Kind::wave: return plan::Role::milestone;
    case Node::Kind::all_of: return plan::Role::group;
  }
  std::unreachable();
}

}  // namespace

// A guard is not ready before the objects that back it work, but its proof begins as soon as they are stored.
plan::Level level_of(const Node& node, const graph::Need& need) {
  if (need.level == graph::Level::stored) return plan::Level::stored;
  return node.kind == Node::Kind::guard ? plan::Level::alive : plan::Level::done;
}

Plan plan_of(const graph::Graph& graph) {
  std::vector<plan::Role> roles;
  roles.reserve(graph.nodes().size());
  std::vector<plan::Edge> edges;
  for (NodeId node : graph.nodes().ids()) {
    roles.push_back(role_of(graph, node));
    for (const graph::Need& need : graph.needs_of(node))
      edges.push_back(
          {.node = node, .needs = need.target, .level = level_of(graph.nodes()[node], need), .reason = need.reason});
  }
  return Plan(std::move(roles), std::move(edges));
}

}  // namespace fairlead::rollout
