// How many requests may be in flight at once: follows latency and refusals (429). Pure; the caller tells it the time.
//
// Up to kComfortable it grows with every answer (after the first trouble, with every window of them), so that a healthy
// server has it within a round trip or two: a server that is the limit itself answers later the more is in flight, and
// that alone is no reason to send less. Past kComfortable it grows only while answers take hardly longer than the
// quickest did: a far server, not a busy one. It shrinks where answers take both long and much longer than they once
// did, down to kPatient and no further. A refusal halves it, once for all requests that were on their way, down to 1.
#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.h"

namespace fairlead::http {

class InFlight {
 public:
  static constexpr size_t kStart = 32;
  static constexpr size_t kComfortable = 64;
  static constexpr size_t kPatient = 16;

  explicit InFlight(size_t max) : max_(max < 1 ? 1 : max), limit_(max_ < kStart ? max_ : kStart) {}

  size_t limit() const { return limit_; }
  size_t count() const { return count_; }
  bool has_room() const { return count_ < limit_; }

  enum class Outcome {
    answered,
    refused,  // 429
    lost,     // no answer: says nothing about how busy the server is
  };

  void start() { ++count_; }
  // The head of the answer is there, or there will be none. The request still counts.
  void learn(Outcome outcome, TimePoint started, TimePoint now);
  // The request is over, body and all.
  void end() { --count_; }

 private:
  void learn_latency(Duration latency);
  void judge(Duration quickest, Duration median);

  size_t max_;
  size_t limit_;
  size_t count_ = 0;
  // Answers of the present window, a window being about as many answers as there are requests in flight.
  std::vector<Duration> window_;
  // The lowest of all windows so far, slowly forgotten.
  Duration best_quickest_ = Duration::max();
  Duration best_median_ = Duration::max();
  // No trouble so far: grows with every answer rather than with every window.
  bool starting_ = true;
  TimePoint halved_at_ = TimePoint::min();
};

}  // namespace fairlead::http
