#include "rollout/plan.h"

#include <algorithm>

namespace fairlead::rollout {

using graph::Level;
using graph::Need;
using graph::Node;

namespace {

// Met by what they need alone: nobody works on them.
bool is_by_itself(const Node& node) { return node.kind == Node::Kind::wave || node.kind == Node::Kind::all_of; }

}  // namespace

Plan::Plan(const graph::Graph& graph)
    : graph_(graph),
      states_(graph.nodes().size(), State::waiting),
      unmet_(states_.size(), 0),
      cause_(states_.size(), 0),
      first_dependent_(states_.size() + 1, 0) {
  auto count = uint32_t(states_.size());
  for (uint32_t node = 0; node < count; ++node)
    for (const Need& need : graph_.needs_of(node)) ++first_dependent_[need.target + 1];
  for (uint32_t node = 0; node < count; ++node) first_dependent_[node + 1] += first_dependent_[node];
  dependents_.resize(first_dependent_.back());
  std::vector<size_t> next(first_dependent_.begin(), first_dependent_.end() - 1);
  for (uint32_t node = 0; node < count; ++node)
    for (const Need& need : graph_.needs_of(node)) {
      dependents_[next[need.target]++] = {node, level_of(node, need)};
      ++unmet_[node];
    }
  for (uint32_t node = 0; node < graph_.object_count(); ++node)
    if (!graph_.is_left_out(node)) ++unsettled_;
  for (uint32_t node = 0; node < count; ++node)
    if (unmet_[node] == 0 && states_[node] == State::waiting) {
      ++unmet_[node];
      met(node);
    }
}

Level Plan::level_of(uint32_t node, const Need& need) const {
  return graph_.nodes()[node].kind == Node::Kind::guard ? Level::stored : need.level;
}

std::span<const Plan::Dependent> Plan::dependents(uint32_t node) const {
  return std::span(dependents_).subspan(first_dependent_[node], first_dependent_[node + 1] - first_dependent_[node]);
}

std::vector<uint32_t> Plan::take_startable() {
  std::vector<uint32_t> taken;
  taken.swap(startable_);
  std::ranges::sort(taken);
  return taken;
}

// One more of its needs is met.
void Plan::met(uint32_t dependent) {
  if (--unmet_[dependent] != 0 || states_[dependent] != State::waiting) return;
  if (is_by_itself(graph_.nodes()[dependent])) {
    advance(dependent, State::ready);
    return;
  }
  if (is_object(dependent) && graph_.is_left_out(dependent)) return;
  states_[dependent] = State::started;
  startable_.push_back(dependent);
}

// Needs form no loop, and groups need no groups deeper than a few, so that this does not go deep.
void Plan::advance(uint32_t node, State state) {
  State before = states_[node];
  states_[node] = state;
  bool now_stored = before < State::stored;
  bool now_ready = state == State::ready;
  for (const Dependent& dependent : dependents(node))
    if (dependent.level == Level::stored ? now_stored : now_ready) met(dependent.node);
}

void Plan::settle_if_object(uint32_t node) {
  if (is_object(node) && !graph_.is_left_out(node)) --unsettled_;
}

void Plan::stored(uint32_t node) {
  if (states_[node] < State::stored) advance(node, State::stored);
}

void Plan::ready(uint32_t node) {
  if (is_settled(node)) return;
  settle_if_object(node);
  advance(node, State::ready);
}

void Plan::failed(uint32_t node) {
  if (is_settled(node)) return;
  settle_if_object(node);
  states_[node] = State::failed;
  cause_[node] = node;
  std::vector<uint32_t> next{node};
  while (!next.empty()) {
    uint32_t at = next.back();
    next.pop_back();
    for (const Dependent& dependent : dependents(at)) {
      if (states_[dependent.node] != State::waiting) continue;
      settle_if_object(dependent.node);
      states_[dependent.node] = State::held;
      cause_[dependent.node] = node;
      next.push_back(dependent.node);
    }
  }
}

bool Plan::is_met(uint32_t node, const Need& need) const {
  State state = states_[need.target];
  return state == State::ready || (state == State::stored && level_of(node, need) == Level::stored);
}

bool Plan::is_needed_ready(uint32_t node) const {
  return std::ranges::any_of(dependents(node), [](const Dependent& one) { return one.level == Level::ready; });
}

std::vector<Need> Plan::unmet(uint32_t node) const {
  std::vector<Need> all;
  for (const Need& need : graph_.needs_of(node)) {
    if (is_met(node, need)) continue;
    if (graph_.nodes()[need.target].kind != Node::Kind::all_of) {
      all.push_back(need);
      continue;
    }
    for (Need inner : unmet(need.target)) all.push_back(inner);
  }
  return all;
}

std::vector<uint32_t> Plan::held_by(uint32_t node) const {
  std::vector<uint32_t> all;
  for (uint32_t other = 0; other < graph_.object_count(); ++other)
    if (states_[other] == State::held && cause_[other] == node) all.push_back(other);
  return all;
}

}  // namespace fairlead::rollout
