// Retries a request while the answer is a fault that passes by itself: an API server that is starting, storage without
// a leader.
#pragma once

#include <algorithm>

#include "async/scope.h"
#include "base/backoff.h"
#include "kube/outcome.h"

namespace fairlead::rollout {

inline constexpr Duration kRetryFor = std::chrono::seconds(15);
// The pauses between tries, wherever nothing says when the next one may succeed.
inline constexpr Backoff kRetryPauses(std::chrono::milliseconds(100), std::chrono::seconds(5));

// Calls `ask`, which returns a new Task<kube::Outcome<T>> each time, until the answer is not a passing fault. Returns
// the last answer after kRetryFor, or when cancelled. The lack of an answer is not retried: the client has retried
// already, and a user who has no cluster wants to know it soon.
template <class Ask>
auto retry_while_passing(Loop& loop, Ask ask) -> decltype(ask()) {
  TimePoint end = loop.now() + kRetryFor;
  for (Backoff pauses = kRetryPauses;;) {
    auto answer = co_await ask();
    bool passes =
        !answer && answer.error().fault() && answer.error().fault()->disposition == kube::Disposition::passing;
    if (!passes || loop.now() + pauses.peek() > end) co_return answer;
    if (!co_await sleep_for(loop, pauses.next())) co_return answer;
  }
}

}  // namespace fairlead::rollout
