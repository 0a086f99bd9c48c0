#include "async/signal.h"

namespace fairlead {

void Signal::notify_all() {
  while (!waiters_.empty()) notify_one();
}

void Signal::notify_one() {
  if (!waiters_.empty()) waiters_.front()->wake();
}

bool Signal::Waiter::suspend(std::coroutine_handle<> self, CancelSource* cancel) {
  if (cancel && cancel->cancelled()) {
    was_cancelled_ = true;
    return false;
  }
  self_ = self;
  place_ = signal_->waiters_.insert(signal_->waiters_.end(), this);
  hook_.set(cancel, [this] {
    // A wake-up that is on its way already wins: the waiter looks at its condition, and is cancelled at its next wait.
    if (!place_) return;
    was_cancelled_ = true;
    wake();
  });
  return true;
}

void Signal::Waiter::wake() {
  signal_->waiters_.erase(*place_);
  place_.reset();
  signal_->loop_->post([self = self_] { self.resume(); });
}

Result<void> Signal::Waiter::await_resume() {
  hook_.clear();
  if (was_cancelled_) return fail(cancelled_error());
  return {};
}

}  // namespace fairlead
