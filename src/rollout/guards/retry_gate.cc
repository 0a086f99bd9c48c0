#include "rollout/guards/retry_gate.h"

#include <algorithm>

namespace fairlead::rollout {

void RetryGate::open() {
  ++opened_;
  pauses_ = 0;
  scout_ = nullptr;
  changed_.notify_all();
  scout_changed_.notify_all();
}

void RetryGate::evidence_changed(bool likely) {
  ++evidence_;
  likely_ = likely;
  evidence_at_ = loop_.now();
  scout_changed_.notify_all();
  if (!likely || !scout_ || pausing_) return;
  // The scout's request may hang for long, if it was sent before the network knew the Service. Another waiter takes
  // over.
  scout_ = nullptr;
  changed_.notify_one();
}

// Pods listen soon after they are Ready, or late for a reason. So a pause is a twenty-fifth of the time since the
// evidence changed during the first seconds, and grows to a twelfth. This makes fewer than 50 retries in three seconds,
// and fewer than 200 in ten minutes. Evidence that changes again and again makes the pauses short again, but not as
// short as at first.
Duration RetryGate::next_pause() const {
  std::chrono::duration<double> quiet = loop_.now() - evidence_at_;
  auto pause = std::chrono::duration_cast<Duration>(quiet * std::clamp(quiet.count() / 200, 1.0 / 25, 1.0 / 12));
  Duration shortest = kShortestPause * std::clamp(pauses_, kShortPauses, 2 * kShortPauses) / kShortPauses;
  return std::clamp(pause, likely_ ? shortest : kUnlikelyPause, kLongestPause);
}

Task<Result<void>> RetryGate::pause() {
  TimePoint begun = loop_.now();
  uint64_t opened = opened_, before = evidence_, evidence = evidence_;
  Duration length = next_pause();
  Result<void> result;
  ++pauses_;
  pausing_ = true;
  while (result && opened_ == opened && (evidence == before || !likely_) && loop_.now() < begun + length) {
    Loop::TimerId timer = loop_.call_at(begun + length, [this] { scout_changed_.notify_all(); });
    result = co_await scout_changed_.wait();
    loop_.cancel_timer(timer);
    if (evidence_ != evidence) length = next_pause();
    evidence = evidence_;
  }
  pausing_ = false;
  co_return result;
}

Task<Result<void>> RetryGate::Place::wait(RetryGate& gate) {
  if (at_ != &gate) leave();
  at_ = &gate;
  if (std::ranges::find(seen_, &gate) == seen_.end()) seen_.push_back(&gate);
  ++gate.waiting_;
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

void RetryGate::Place::passed() {
  for (RetryGate* gate : seen_) gate->open();
  seen_.clear();
  at_ = nullptr;
}

void RetryGate::Place::leave() {
  if (at_ && at_->scout_ == this) {
    at_->scout_ = nullptr;
    at_->changed_.notify_one();
  }
  at_ = nullptr;
}

}  // namespace fairlead::rollout
