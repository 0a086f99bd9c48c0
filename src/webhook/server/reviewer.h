// Answers the requests of an API server: finds the route, decides or has the queue decide, counts and logs. There is
// one reviewer per loop that serves connections.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "async/real_loop.h"
#include "http/message.h"
#include "webhook/server/internal/usual_times.h"
#include "webhook/server/log.h"
#include "webhook/server/metrics.h"
#include "webhook/server/review_queue.h"
#include "webhook/server/routes.h"
#include "webhook/server/territory.h"

namespace fairlead::webhook {

// What all reviewers of a server share. The queue and the territory live on `loop`, the server's own; all else is for
// any thread.
struct ReviewSetting {
  ReviewSetting(RealLoop& on, const Routes& with, ReviewLimits within, Metrics& counts, Log& lines)
      : loop(on),
        routes(with),
        limits(within),
        metrics(counts),
        log(lines),
        usual(with),
        queue(on, within, counts, usual) {}

  RealLoop& loop;
  const Routes& routes;
  const ReviewLimits limits;
  Metrics& metrics;
  Log& log;
  // Reviews that it does not take are let through. Set before the first request; null if there is none.
  const Territory* territory = nullptr;
  UsualTimes usual;
  ReviewQueue queue;
};

class Reviewer {
 public:
  // `loop` is the one that serves the requests. Both must outlive it.
  Reviewer(RealLoop& loop, ReviewSetting& setting) : loop_(loop), setting_(setting) {}

  // Cancelling it gives the answer up.
  Task<http::Answer> answer(http::Request request);

 private:
  // Decides at once, on this loop, where that is usually quick. Nothing if there is too much to do already.
  Task<std::optional<Verdict>> decide_on(const Route& route, std::string body, TimePoint deadline);
  // After the decision, which may be made on any thread: Leases are looked at on the server's own loop.
  Task<void> respect_territory(const Route& route, Verdict& verdict);
  void note(const Route& route, const Verdict& verdict, TimePoint start);

  RealLoop& loop_;
  ReviewSetting& setting_;
};

// How many threads suit the machine: one per processor that we may use, at most 4. Of the workers there are at least 2.
struct DefaultThreads {
  size_t serving;
  size_t workers;
};
// `cpu_max` is the text of cpu.max of our cgroup, as "150000 100000"; empty if there is none.
DefaultThreads default_threads(std::string_view cpu_max, size_t processors);

// The time that `?timeout=` gives, at most 30 s; nothing if there is none that makes sense.
std::optional<Duration> timeout_in(std::string_view query);
// How long to decide for, so that the answer still arrives within the time-out.
Duration time_to_decide(Duration timeout);

}  // namespace fairlead::webhook
