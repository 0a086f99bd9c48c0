#include "rollout/gate.h"

#include <algorithm>

namespace fairlead::rollout {

void Gate::open() {
  ++opened_;
  scout_ = nullptr;
  changed_.notify_all();
  scout_changed_.notify_all();
}

void Gate::evidence_changed(bool likely) {
  ++evidence_;
  likely_ = likely;
  evidence_at_ = loop_.now();
  scout_changed_.notify_all();
}

Duration Gate::next_pause() const {
  Duration share = (loop_.now() - evidence_at_) / 20;
  return std::clamp(share, likely_ ? kShortestPause : kUnlikelyPause, kLongestPause);
}

Task<Result<void>> Gate::pause() {
  uint64_t opened = opened_, evidence = evidence_;
  bool due = false;
  Loop::TimerId timer = loop_.call_at(loop_.now() + next_pause(), [&] {
    due = true;
    scout_changed_.notify_all();
  });
  Result<void> result;
  while (result && !due && opened_ == opened && (evidence_ == evidence || !likely_))
    result = co_await scout_changed_.wait();
  if (!due) loop_.cancel_timer(timer);
  co_return result;
}

Task<Result<void>> Gate::Place::wait(Gate& gate) {
  if (at_ != &gate) leave();
  at_ = &gate;
  if (std::ranges::find(seen_, &gate) == seen_.end()) seen_.push_back(&gate);
  if (gate.waiting_++ == 0) gate.since_ = gate.loop_.now();
  uint64_t opened = gate.opened_;
  Result<void> result;
  while (result && gate.opened_ == opened && gate.scout_ && gate.scout_ != this) result = co_await gate.changed_.wait();
  if (result && gate.opened_ == opened) {
    gate.scout_ = this;
    result = co_await gate.pause();
  }
  --gate.waiting_;
  co_return result;
}

void Gate::Place::passed() {
  for (Gate* gate : seen_) gate->open();
  seen_.clear();
  at_ = nullptr;
}

void Gate::Place::leave() {
  if (at_ && at_->scout_ == this) {
    at_->scout_ = nullptr;
    at_->changed_.notify_one();
  }
  at_ = nullptr;
}

}  // namespace fairlead::rollout
