#include "http/client/internal/in_flight.h"

#include <algorithm>

namespace fairlead::http {
namespace {

using namespace std::chrono_literals;

// Answers that take no longer than this are quick enough, whatever they took before.
constexpr Duration kQuick = 250ms;
constexpr int kMuchLonger = 8;
constexpr size_t kSmallestWindow = 16;

// Forgets by a part in 64 a window, so that a change of the server for the worse counts as normal in the end.
Duration remember(Duration best, Duration seen) {
  return best == Duration::max() ? seen : std::min(best + best / 64, seen);
}

}  // namespace

void InFlight::learn(Outcome outcome, TimePoint started, TimePoint now) {
  if (outcome == Outcome::lost) return;
  if (outcome == Outcome::answered) return learn_latency(now - started);
  // Those that were sent before the last halving say what is known already.
  if (started < halved_at_) return;
  starting_ = false;
  halved_at_ = now;
  limit_ = std::max<size_t>(limit_ / 2, 1);
  window_.clear();
}

void InFlight::learn_latency(Duration latency) {
  // Nothing is learned about the limit while there is no use for it.
  bool full = count_ >= limit_;
  if (full && starting_ && limit_ < std::min(kComfortable, max_)) ++limit_;
  if (!full) return;
  window_.push_back(latency);
  if (window_.size() < std::max(limit_, kSmallestWindow)) return;
  auto middle = window_.begin() + static_cast<std::ptrdiff_t>(window_.size() / 2);
  std::nth_element(window_.begin(), middle, window_.end());
  judge(*std::min_element(window_.begin(), middle + 1), *middle);
  window_.clear();
}

void InFlight::judge(Duration quickest, Duration median) {
  best_quickest_ = remember(best_quickest_, quickest);
  best_median_ = remember(best_median_, median);
  bool slow = median > kQuick && median > best_median_ * kMuchLonger;
  bool longer = median > best_quickest_ + best_quickest_ / 2;
  if (slow) starting_ = false;
  if (slow && limit_ > kPatient) {
    limit_ = std::max(limit_ - limit_ / 8, kPatient);
  } else if (!slow && limit_ < std::min(kComfortable, max_)) {
    ++limit_;
  } else if (limit_ >= kComfortable && !longer) {
    limit_ = std::min(limit_ + limit_ / 8, max_);
  } else if (limit_ > kComfortable && longer) {
    limit_ = std::max(limit_ - limit_ / 16, kComfortable);
  }
}

}  // namespace fairlead::http
