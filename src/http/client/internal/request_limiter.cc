#include "http/client/internal/request_limiter.h"

namespace fairlead::http {

void RequestLimiter::Permit::learn(InFlight::Outcome outcome, TimePoint started) {
  if (!gate_) return;
  gate_->flight_.learn(outcome, started, gate_->loop_.now());
  gate_->let_in();
}

void RequestLimiter::Permit::release() {
  if (!gate_) return;
  std::shared_ptr<RequestLimiter> gate = std::move(gate_);
  gate->flight_.end();
  gate->let_in();
}

void RequestLimiter::let_in() {
  // The place is taken here and now: whoever comes next cannot overtake those who have waited.
  while (!waiters_.empty() && flight_.has_room()) {
    flight_.start();
    Waiter* first = waiters_.front();
    waiters_.pop_front();
    first->has_place = true;
    first->woken.notify_all();
  }
}

Task<Result<RequestLimiter::Permit>> RequestLimiter::enter() {
  if (waiters_.empty() && flight_.has_room()) {
    flight_.start();
    co_return Permit(shared_from_this());
  }
  auto self = shared_from_this();
  Waiter waiter(loop_);
  auto place = waiters_.insert(waiters_.end(), &waiter);
  Result<void> woken = co_await waiter.woken.wait();
  if (waiter.has_place) {
    Permit permit(self);
    if (!woken) co_return fail(woken.error());
    co_return permit;
  }
  waiters_.erase(place);
  co_return fail(woken.error());
}

}  // namespace fairlead::http
