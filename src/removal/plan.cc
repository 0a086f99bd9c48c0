#include "removal/plan.h"

#include <algorithm>

namespace fairlead::removal {

Plan::Plan(Order order)
    : order_(std::move(order)),
      states_(order_.nodes(), State::waiting),
      unmet_(states_.size(), 0),
      cause_(states_.size(), 0),
      first_later_(states_.size() + 1, 0),
      unsettled_(order_.targets) {
  for (const Edge& edge : order_.edges) {
    ++first_later_[edge.sooner + 1];
    ++unmet_[edge.later];
  }
  for (size_t node = 0; node < states_.size(); ++node) first_later_[node + 1] += first_later_[node];
  later_.resize(first_later_.back());
  std::vector<size_t> next(first_later_.begin(), first_later_.end() - 1);
  for (const Edge& edge : order_.edges) later_[next[edge.sooner]++] = edge.later;
  for (uint32_t node = 0; node < states_.size(); ++node)
    if (unmet_[node] == 0 && states_[node] == State::waiting) {
      ++unmet_[node];
      met(node);
    }
}

std::span<const uint32_t> Plan::later_than(uint32_t node) const {
  return std::span(later_).subspan(first_later_[node], first_later_[node + 1] - first_later_[node]);
}

std::vector<uint32_t> Plan::take_startable() {
  std::vector<uint32_t> taken;
  taken.swap(startable_);
  std::ranges::sort(taken);
  return taken;
}

// One more of those that it waits for is gone. Groups wait for few groups in a row, so that this does not go deep.
void Plan::met(uint32_t node) {
  if (--unmet_[node] != 0 || states_[node] != State::waiting) return;
  if (node < order_.targets) {
    states_[node] = State::started;
    startable_.push_back(node);
    return;
  }
  states_[node] = State::gone;
  for (uint32_t later : later_than(node)) met(later);
}

void Plan::gone(uint32_t target) {
  if (is_settled(target)) return;
  states_[target] = State::gone;
  --unsettled_;
  for (uint32_t later : later_than(target)) met(later);
}

void Plan::failed(uint32_t target) {
  if (is_settled(target)) return;
  states_[target] = State::failed;
  cause_[target] = target;
  --unsettled_;
  std::vector<uint32_t> next{target};
  while (!next.empty()) {
    uint32_t at = next.back();
    next.pop_back();
    for (uint32_t later : later_than(at)) {
      if (states_[later] != State::waiting) continue;
      states_[later] = State::held;
      cause_[later] = target;
      if (later < order_.targets) --unsettled_;
      next.push_back(later);
    }
  }
}

std::vector<Plan::Wait> Plan::waits_for(uint32_t target, size_t at_most) const {
  std::vector<Wait> waits;
  std::vector<std::pair<uint32_t, std::string_view>> look{{target, {}}};
  while (!look.empty() && waits.size() < at_most) {
    auto [node, reason] = look.back();
    look.pop_back();
    for (const Edge& edge : order_.edges) {
      if (edge.later != node || states_[edge.sooner] == State::gone) continue;
      std::string_view why = reason.empty() ? std::string_view(edge.reason) : reason;
      if (edge.sooner >= order_.targets) look.emplace_back(edge.sooner, why);
      else if (waits.size() < at_most) waits.push_back({edge.sooner, why});
    }
  }
  return waits;
}

std::vector<uint32_t> Plan::held_by(uint32_t target) const {
  std::vector<uint32_t> all;
  for (uint32_t other = 0; other < order_.targets; ++other)
    if (states_[other] == State::held && cause_[other] == target) all.push_back(other);
  return all;
}

}  // namespace fairlead::removal
