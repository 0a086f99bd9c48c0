// Answers the requests of an API server: finds the route, keeps the deadline, sheds what is too much, counts and logs.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "async/real_loop.h"
#include "http/message.h"
#include "webhook/server/internal/workers.h"
#include "webhook/server/log.h"
#include "webhook/server/metrics.h"
#include "webhook/server/routes.h"
#include "webhook/server/territory.h"

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
  // A review is decided on at once, on the loop, if it is no larger than this and its path usually takes no longer than
  // that. Handing it to a thread costs more than such a review takes.
  size_t quick_bytes = size_t{16} << 10;
  Duration quick = std::chrono::milliseconds(1);
  // Where a request has no ?timeout; Kubernetes' own default.
  Duration timeout = std::chrono::seconds(10);
};

class Reviewer {
 public:
  // All must outlive it.
  Reviewer(RealLoop& loop, const Routes& routes, ReviewLimits limits, Metrics& metrics, Log& log)
      : loop_(loop),
        routes_(routes),
        limits_(limits),
        metrics_(metrics),
        log_(log),
        small_workers_(loop, limits.workers),
        large_workers_(loop, limits.workers) {}

  // Reviews that this does not take are let through. It must outlive the reviewer.
  void limit_to(const Territory& territory) { territory_ = &territory; }

  // Cancelling it gives the answer up; a policy that runs already runs to its end.
  Task<http::Answer> answer(http::Request request);

 private:
  struct Job;
  bool is_large(size_t body) const { return body > limits_.quick_bytes; }
  Task<Verdict> on_a_thread(const Route& route, std::string body, TimePoint deadline);
  void start(const std::shared_ptr<Job>& job);
  // Starts the large reviews that fit in.
  void start_large();
  Task<Result<void>> finished(std::shared_ptr<Job> job);
  void learn(const Route& route, Duration took);
  void note(const Route& route, const Verdict& verdict, TimePoint start);

  RealLoop& loop_;
  const Routes& routes_;
  ReviewLimits limits_;
  Metrics& metrics_;
  Log& log_;
  const Territory* territory_ = nullptr;
  // How long small reviews of a path take lately.
  std::unordered_map<const Route*, Duration> usual_;
  size_t small_in_flight_ = 0;
  size_t large_in_flight_ = 0;
  std::deque<std::shared_ptr<Job>> large_waiting_;
  size_t large_bytes_ = 0;
  // Last, so that they end before anything that their jobs use.
  Workers small_workers_;
  Workers large_workers_;
};

// How many threads suit the machine: one per processor that we may use, at least 2 and at most 4. `cpu_max` is the text
// of cpu.max of our cgroup, as "150000 100000"; empty if there is none.
size_t default_workers(std::string_view cpu_max, size_t processors);

// The time that `?timeout=` gives, at most 30 s; nothing if there is none that makes sense.
std::optional<Duration> timeout_in(std::string_view query);
// How long to decide for, so that the answer still arrives within the time-out.
Duration time_to_decide(Duration timeout);

}  // namespace fairlead::webhook
