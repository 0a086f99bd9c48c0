#include "readiness/sweeper.h"

namespace fairlead::readiness {
namespace {

// How long sweeping may take after everything else is done.
constexpr Duration kSweepingTime = std::chrono::seconds(5);

}  // namespace

// What could not be removed is left to the next run.
Task<void> Sweeper::sweep() { (void)co_await prover_.sweep(); }

Task<void> Sweeper::sweep(std::vector<std::span<const Json>> lists) {
  for (std::span<const Json> list : lists) (void)co_await prover_.sweep(list);
}

Task<void> Sweeper::end(bool stopping) {
  Loop::TimerId timer = loop_.call_after(stopping ? Duration::zero() : kSweepingTime, [this] { scope_.cancel(); });
  co_await scope_.join();
  loop_.cancel_timer(timer);
}

}  // namespace fairlead::readiness
