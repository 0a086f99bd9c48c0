// Decides on reviews that may take their time, on threads of their own: queue, limits and deadlines. All reviewers of a
// server share one, so that its limits hold for the whole server. It lives on the server's own loop.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "async/real_loop.h"
#include "webhook/server/internal/usual_times.h"
#include "webhook/server/internal/workers.h"
#include "webhook/server/metrics.h"
#include "webhook/server/routes.h"

namespace fairlead::webhook {

struct ReviewLimits {
  // Reviews of each lane (small and large ones) that wait for a thread or are being decided on; more are answered with
  // 429 and Retry-After.
  size_t in_flight = 200;
  // Threads for small reviews with slow policies; large ones have as many of their own.
  size_t workers = 2;
  // Bytes of the large reviews that are read at the same time, unless a single one has more: parsed, they take up to 30
  // times as much.
  size_t large_bytes_at_once = size_t{4} << 20;
  // A review is decided on at once, on the loop that serves its connection, if it is no larger than this and its path
  // usually takes no longer than that. Handing it to a thread costs more than such a review takes.
  size_t quick_bytes = size_t{16} << 10;
  Duration quick = std::chrono::milliseconds(1);
  // Where a request has no ?timeout; Kubernetes' own default.
  Duration timeout = std::chrono::seconds(10);

  bool is_large(size_t body) const { return body > quick_bytes; }
};

// Decides, and says how long that took this thread.
struct Timed {
  Verdict verdict;
  Duration took{};
};
Timed decide_timed(const Route& route, std::string_view body);

class ReviewQueue {
 public:
  // All must outlive it.
  ReviewQueue(RealLoop& loop, ReviewLimits limits, Metrics& metrics, UsualTimes& usual)
      : loop_(loop),
        limits_(limits),
        metrics_(metrics),
        usual_(usual),
        small_workers_(loop, limits.workers),
        large_workers_(loop, limits.workers) {}

  // Returns nothing if there is too much to do already, and a verdict that says so if there is no decision by the
  // deadline. Cancelling it gives the verdict up; a policy that runs already runs to its end.
  Task<std::optional<Verdict>> decide(const Route& route, std::string body, TimePoint deadline);

 private:
  struct Job;
  void start(const std::shared_ptr<Job>& job);
  // Starts the large reviews that fit in.
  void start_large();
  Task<Result<void>> finished(std::shared_ptr<Job> job);

  RealLoop& loop_;
  ReviewLimits limits_;
  Metrics& metrics_;
  UsualTimes& usual_;
  size_t small_in_flight_ = 0;
  size_t large_in_flight_ = 0;
  std::deque<std::shared_ptr<Job>> large_waiting_;
  size_t large_bytes_ = 0;
  // Last, so that they end before anything that their jobs use.
  Workers small_workers_;
  Workers large_workers_;
};

}  // namespace fairlead::webhook
