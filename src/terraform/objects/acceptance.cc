#include "terraform/objects/acceptance.h"

#include <algorithm>

#include "base/backoff.h"

namespace fairlead::terraform {
namespace {

using kube::Disposition;
using kube::Fault;
using kube::FaultKind;

constexpr Duration kLongestPause = std::chrono::seconds(3);

// How long it makes sense to send the request again after this answer.
Duration time_for(const kube::Failure& failure, Duration whole) {
  const Fault* fault = failure.fault();
  if (!fault) {
    ErrorKind kind = failure.error().kind();
    bool passes = kind == ErrorKind::unavailable || kind == ErrorKind::timeout;
    return passes ? std::min(whole, kPrerequisiteTime) : Duration::zero();
  }
  if (fault->disposition == Disposition::permanent) return Duration::zero();
  return fault->wait.only_if_expected ? std::min(whole, kPrerequisiteTime) : whole;
}

// Cancels its source some time after another one was cancelled.
class Grace {
 public:
  Grace(Loop& loop, CancelSource* stop) : loop_(loop) {
    if (stop && !stop->cancelled())
      hook_.set(stop, [this] { timer_ = loop_.call_after(kGraceTime, [this] { source_.cancel(); }); });
  }
  ~Grace() {
    hook_.clear();
    if (timer_) loop_.cancel_timer(*timer_);
  }
  Grace(const Grace&) = delete;
  Grace& operator=(const Grace&) = delete;
  CancelSource* source() { return &source_; }

 private:
  Loop& loop_;
  CancelSource source_;
  CancelHook hook_;
  std::optional<Loop::TimerId> timer_;
};

}  // namespace

Task<kube::Outcome<kube::Reply>> send_until_accepted(Loop& loop, Patience patience,
                                                     std::function<Task<kube::Outcome<kube::Reply>>()> send) {
  TimePoint begun = loop.now();
  Duration pause = std::chrono::milliseconds(250);
  std::string told;
  CancelSource* stop = co_await current_cancel();
  for (;;) {
    CO_TRY(co_await go_on());
    Grace grace(loop, stop);
    kube::Outcome<kube::Reply> outcome = co_await send().governed_by(grace.source());
    if (outcome) co_return outcome;
    Duration passed = loop.now() - begun;
    if (passed + pause > time_for(outcome.error(), patience.whole)) co_return outcome;
    std::string why = outcome.error().error().what();
    if (patience.waits && why != told) patience.waits(why);
    told = std::move(why);
    if (!co_await sleep_for(loop, pause)) co_return outcome;
    pause = std::min(pause * 2, kLongestPause);
  }
}

Task<kube::Outcome<std::optional<object::Resource>>> await_kind(Loop& loop, kube::Discovery& discovery,
                                                                std::string group, std::string version,
                                                                std::string kind, Patience patience) {
  TimePoint end = loop.now() + std::min(patience.whole, kPrerequisiteTime);
  bool told = false;
  for (;;) {
    auto found = co_await discovery.find(group, version, kind);
    bool passes = !found && time_for(found.error(), patience.whole) > Duration::zero();
    if ((found && *found) || (!found && !passes) || loop.now() >= end) co_return found;
    if (!told && patience.waits) patience.waits(kind + " is not served yet");
    told = true;
    if (!co_await sleep_for(loop, std::chrono::seconds(1))) co_return found;
  }
}

bool may_come(const kube::Failure& failure) {
  const Fault* fault = failure.fault();
  if (!fault) {
    ErrorKind kind = failure.error().kind();
    return kind == ErrorKind::unavailable || kind == ErrorKind::timeout;
  }
  return fault->disposition != Disposition::permanent || fault->kind == FaultKind::webhook_no_dry_run ||
         fault->kind == FaultKind::namespace_missing || fault->kind == FaultKind::not_served;
}

}  // namespace fairlead::terraform
