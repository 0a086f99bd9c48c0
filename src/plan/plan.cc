#include "plan/plan.h"

#include <algorithm>

namespace fairlead::plan {

Plan::Plan(std::vector<Role> roles, std::vector<Edge> edges)
    : roles_(std::move(roles)),
      edges_(std::move(edges)),
      needs_(roles_.size()),
      dependents_(roles_.size()),
      states_(roles_.size(), State::waiting),
      was_stored_(roles_.size()),
      unmet_(roles_.size(), 0),
      cause_(roles_.size()),
      unsettled_(size_t(std::ranges::count(roles_, Role::work))) {
  for (const Edge& edge : edges_) {
    needs_.count(edge.node);
    dependents_.count(edge.needs);
    ++unmet_[edge.node];
  }
  needs_.lay_out();
  dependents_.lay_out();
  for (EdgeId e : edges_.ids()) {
    needs_.add(edges_[e].node, e);
    dependents_.add(edges_[e].needs, e);
  }
  for (NodeId node : roles_.ids())
    if (unmet_[node] == 0 && states_[node] == State::waiting) {
      ++unmet_[node];
      meet(node);
    }
}

std::vector<NodeId> Plan::take_startable() {
  std::vector<NodeId> taken;
  taken.swap(startable_);
  std::ranges::sort(taken);
  return taken;
}

// One more need of the node is met. Groups are nested a few levels at most, so the recursion is not deep.
void Plan::meet(NodeId node) {
  if (--unmet_[node] != 0 || states_[node] != State::waiting) return;
  switch (roles_[node]) {
    case Role::milestone:
    case Role::group: return advance(node, State::done);
    case Role::excluded: return;
    case Role::work:
    case Role::helper: break;
  }
  states_[node] = State::started;
  startable_.push_back(node);
}

void Plan::advance(NodeId node, State state) {
  bool now_stored = !was_stored_[node];
  bool now_done = state == State::done;
  was_stored_[node] = true;
  settle(node, state);
  for (EdgeId e : dependents_.from(node))
    if (edges_[e].level == Level::done ? now_done : now_stored) meet(edges_[e].node);
}

void Plan::settle(NodeId node, State state) {
  states_[node] = state;
  if (is_settled(node) && roles_[node] == Role::work) --unsettled_;
}

void Plan::stored(NodeId node) {
  if (states_[node] < State::stored) advance(node, State::stored);
}

void Plan::done(NodeId node) {
  if (!is_settled(node)) advance(node, State::done);
}

void Plan::failed(NodeId node) {
  if (is_settled(node)) return;
  settle(node, State::failed);
  cause_[node] = node;
  std::vector<NodeId> next{node};
  while (!next.empty()) {
    NodeId at = next.back();
    next.pop_back();
    for (EdgeId e : dependents_.from(at)) {
      NodeId dependent = edges_[e].node;
      if (states_[dependent] != State::waiting || is_met(edges_[e])) continue;
      settle(dependent, State::blocked);
      cause_[dependent] = node;
      next.push_back(dependent);
    }
  }
}

bool Plan::is_met(const Edge& edge) const {
  switch (edge.level) {
    case Level::stored: return was_stored_[edge.needs];
    case Level::alive: return states_[edge.needs] == State::stored || states_[edge.needs] == State::done;
    case Level::done: break;
  }
  return states_[edge.needs] == State::done;
}

bool Plan::is_needed_done(NodeId node) const {
  return std::ranges::any_of(dependents_.from(node), [&](EdgeId e) { return edges_[e].level == Level::done; });
}

std::vector<Edge> Plan::unmet(NodeId node, size_t at_most) const {
  std::vector<Edge> all;
  find_unmet(node, at_most, {}, all);
  return all;
}

void Plan::find_unmet(NodeId node, size_t at_most, std::string_view reason, std::vector<Edge>& all) const {
  for (EdgeId e : needs_.from(node)) {
    Edge edge = edges_[e];
    if (all.size() >= at_most) return;
    if (is_met(edge)) continue;
    if (edge.reason.empty()) edge.reason = reason;
    if (roles_[edge.needs] == Role::group) find_unmet(edge.needs, at_most, edge.reason, all);
    else all.push_back(edge);
  }
}

std::vector<NodeId> Plan::blocked_by(NodeId node) const {
  std::vector<NodeId> all;
  for (NodeId other : states_.ids())
    if (states_[other] == State::blocked && cause_[other] == node && roles_[other] == Role::work) all.push_back(other);
  return all;
}

}  // namespace fairlead::plan
