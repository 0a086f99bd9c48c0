#include "webhook/server/review_queue.h"

#include <malloc.h>
#include <time.h>

#include "async/scope.h"

namespace fairlead::webhook {
namespace {

// What this thread has computed so far. Time in which others had the processor does not count: it says nothing about a
// policy.
Duration thread_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

constexpr size_t kTrimFrom = size_t{256} << 10;

void give_memory_back() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace

Timed decide_timed(const Route& route, std::string_view body) {
  Duration before = thread_time();
  Timed timed{.verdict = decide(route, body)};
  timed.took = thread_time() - before;
  return timed;
}

// Shared by the request that waits for it and the thread that works on it.
struct ReviewQueue::Job {
  Job(Loop& loop, const Route& on) : route(on), changed(loop) {}
  const Route& route;
  std::string body;
  size_t size = 0;
  // The decision alone, without the wait for a thread.
  Timed timed;
  bool is_large = false;
  bool done = false;
  Signal changed;
};

Task<Result<void>> ReviewQueue::finished(std::shared_ptr<Job> job) {
  while (!job->done) CO_TRY(co_await job->changed.wait());
  co_return Result<void>();
}

void ReviewQueue::start(const std::shared_ptr<Job>& job) {
  (job->is_large ? large_workers_ : small_workers_)
      .run(
          [job] {
            job->timed = decide_timed(job->route, job->body);
            std::string().swap(job->body);
            // Otherwise each thread keeps what the largest review took.
            if (job->size >= kTrimFrom) give_memory_back();
          },
          [this, job] {
            --metrics_.in_flight;
            --(job->is_large ? large_in_flight_ : small_in_flight_);
            if (job->is_large) large_bytes_ -= job->size;
            else usual_.learn(job->route, job->timed.took);
            job->done = true;
            job->changed.notify_all();
            start_large();
          });
}

void ReviewQueue::start_large() {
  while (!large_waiting_.empty()) {
    size_t size = large_waiting_.front()->size;
    if (large_bytes_ > 0 && large_bytes_ + size > limits_.large_bytes_at_once) return;
    large_bytes_ += size;
    std::shared_ptr<Job> job = std::move(large_waiting_.front());
    large_waiting_.pop_front();
    start(job);
  }
}

Task<std::optional<Verdict>> ReviewQueue::decide(const Route& route, std::string body, TimePoint deadline) {
  auto job = std::make_shared<Job>(loop_, route);
  job->size = body.size();
  job->is_large = limits_.is_large(body.size());
  job->body = std::move(body);
  size_t& in_flight = job->is_large ? large_in_flight_ : small_in_flight_;
  if (in_flight >= limits_.in_flight) co_return std::nullopt;
  ++in_flight;
  ++metrics_.in_flight;
  if (job->is_large) {
    large_waiting_.push_back(job);
    start_large();
  } else {
    start(job);
  }
  Result<void> in_time = co_await with_deadline(loop_, deadline, "late", finished(job));
  if (in_time) co_return std::move(job->timed.verdict);
  // Nobody waits for it any more: it need not be read.
  if (std::erase(large_waiting_, job) > 0) {
    --metrics_.in_flight;
    --large_in_flight_;
  }
  std::string cause = "there was no decision in time";
  co_return Verdict{.status = 504, .body = cause + "\n", .facts = {.decided = Decided::late, .cause = cause}};
}

}  // namespace fairlead::webhook
