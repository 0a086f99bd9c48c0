#include "webhook/server/reviewer.h"

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <charconv>

#include "async/scope.h"
#include "base/duration_text.h"
#include "base/printable.h"

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

http::Answer refuse(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = http::body_of(std::move(text))};
}

http::Answer shed() {
  http::Answer answer = refuse(429, "too many reviews at once; try again\n");
  answer.headers.add("Retry-After", "1");
  return answer;
}

// What is wrong with a request before anybody looks at its body.
std::optional<http::Answer> wrong_head(const http::Request& request) {
  if (request.method != "POST") {
    http::Answer answer = refuse(405, "reviews are sent with POST\n");
    answer.headers.add("Allow", "POST");
    return answer;
  }
  std::string_view type = request.headers.find("content-type").value_or("");
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  if (http::same_name(type, "application/json")) return std::nullopt;
  return refuse(415, "reviews are sent as application/json\n");
}

}  // namespace

std::optional<Duration> timeout_in(std::string_view query) {
  while (!query.empty() && !query.starts_with("timeout=")) {
    size_t next = query.find('&');
    query = next == std::string_view::npos ? "" : query.substr(next + 1);
  }
  if (query.empty()) return std::nullopt;
  std::string_view text = query.substr(8, query.find('&') - std::min<size_t>(8, query.find('&')));
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (error != std::errc() || number <= 0 || number > 1'000'000'000) return std::nullopt;
  constexpr Duration kMost = std::chrono::seconds(30);
  if (unit == "s") return std::min<Duration>(kMost, std::chrono::seconds(number));
  if (unit == "ms") return std::min<Duration>(kMost, std::chrono::milliseconds(number));
  if (unit == "m") return std::min<Duration>(kMost, std::chrono::minutes(number));
  return std::nullopt;
}

Duration time_to_decide(Duration timeout) {
  return timeout - std::min<Duration>(timeout / 10, std::chrono::milliseconds(500));
}

size_t default_workers(std::string_view cpu_max, size_t processors) {
  int64_t quota = 0, period = 0;
  auto [quota_end, no_quota] = std::from_chars(cpu_max.data(), cpu_max.data() + cpu_max.size(), quota);
  std::string_view rest = cpu_max.substr(static_cast<size_t>(quota_end - cpu_max.data()));
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  auto [period_end, no_period] = std::from_chars(rest.data(), rest.data() + rest.size(), period);
  bool is_limited = no_quota == std::errc() && no_period == std::errc() && quota > 0 && period > 0;
  if (is_limited) processors = std::min(processors, static_cast<size_t>(1 + (quota - 1) / period));
  return std::clamp<size_t>(processors, 2, 4);
}

// Shared by the request that waits for it and the thread that works on it.
struct Reviewer::Job {
  Job(Loop& loop, const Route& on) : route(on), changed(loop) {}
  const Route& route;
  std::string body;
  size_t size = 0;
  Verdict verdict;
  // The decision alone, without the wait for a thread.
  Duration took{};
  bool is_large = false;
  bool done = false;
  Signal changed;
};

Task<Result<void>> Reviewer::finished(std::shared_ptr<Job> job) {
  while (!job->done) CO_TRY(co_await job->changed.wait());
  co_return Result<void>();
}

void Reviewer::start(const std::shared_ptr<Job>& job) {
  (job->is_large ? large_workers_ : small_workers_)
      .run(
          [job] {
            Duration before = thread_time();
            job->verdict = decide(job->route, job->body);
            job->took = thread_time() - before;
            std::string().swap(job->body);
            // Otherwise each thread keeps what the largest review took.
            if (job->size >= kTrimFrom) give_memory_back();
          },
          [this, job] {
            --metrics_.in_flight;
            --(job->is_large ? large_in_flight_ : small_in_flight_);
            if (job->is_large) large_bytes_ -= job->size;
            else learn(job->route, job->took);
            job->done = true;
            job->changed.notify_all();
            start_large();
          });
}

void Reviewer::start_large() {
  while (!large_waiting_.empty()) {
    size_t size = large_waiting_.front()->size;
    if (large_bytes_ > 0 && large_bytes_ + size > limits_.large_bytes_at_once) return;
    large_bytes_ += size;
    std::shared_ptr<Job> job = std::move(large_waiting_.front());
    large_waiting_.pop_front();
    start(job);
  }
}

Task<Verdict> Reviewer::on_a_thread(const Route& route, std::string body, TimePoint deadline) {
  auto job = std::make_shared<Job>(loop_, route);
  job->size = body.size();
  job->is_large = is_large(body.size());
  job->body = std::move(body);
  ++metrics_.in_flight;
  ++(job->is_large ? large_in_flight_ : small_in_flight_);
  if (job->is_large) {
    large_waiting_.push_back(job);
    start_large();
  } else {
    start(job);
  }
  Result<void> in_time = co_await with_deadline(loop_, deadline, "late", finished(job));
  if (in_time) co_return std::move(job->verdict);
  // Nobody waits for it any more: it need not be read.
  if (std::erase(large_waiting_, job) > 0) {
    --metrics_.in_flight;
    --large_in_flight_;
  }
  std::string cause = "there was no decision in time";
  co_return Verdict{.status = 504, .body = cause + "\n", .facts = {.decided = Decided::late, .cause = cause}};
}

void Reviewer::learn(const Route& route, Duration took) {
  Duration& usual = usual_[&route];
  usual = (usual * 7 + took) / 8;
}

void Reviewer::note(const Route& route, const Verdict& verdict, TimePoint start) {
  Duration took = loop_.now() - start;
  metrics_.count(route.path, verdict.facts.decided, took);
  log_.review(route.path, verdict.facts, took);
}

Task<http::Answer> Reviewer::answer(http::Request request) {
  TimePoint start = loop_.now();
  std::string_view target = request.target;
  std::string_view path = target.substr(0, target.find('?'));
  std::string_view query = path.size() < target.size() ? target.substr(path.size() + 1) : "";
  const Route* route = routes_.find(path);
  if (!route) {
    metrics_.count_unknown_path();
    co_return refuse(404, fmt::format("there is no webhook at {}\n", printable_line(path.substr(0, 200))));
  }
  if (std::optional<http::Answer> wrong = wrong_head(request)) {
    metrics_.count_refused(wrong->status);
    co_return std::move(*wrong);
  }
  Verdict verdict;
  bool is_small = !is_large(request.body.size());
  if (is_small && limits_.quick_bytes > 0 && usual_[route] <= limits_.quick) {
    Duration before = thread_time();
    verdict = decide(*route, request.body);
    learn(*route, thread_time() - before);
  } else if ((is_small ? small_in_flight_ : large_in_flight_) >= limits_.in_flight) {
    note(*route, {.facts = {.decided = Decided::shed, .cause = "too many reviews at once"}}, start);
    co_return shed();
  } else {
    TimePoint deadline = start + time_to_decide(timeout_in(query).value_or(limits_.timeout));
    verdict = co_await on_a_thread(*route, std::move(request.body), deadline);
  }
  // After the decision, which may be made on a thread: Leases are looked at on the loop.
  if (territory_ && !verdict.uid.empty())
    if (std::optional<std::string> others = territory_->left_to(route->kind, verdict.facts.ns))
      leave_to(*others, verdict);
  note(*route, verdict, start);
  if (verdict.status != 200) co_return refuse(verdict.status, std::move(verdict.body));
  co_return http::Answer{.headers = {{"Content-Type", "application/json"}},
                         .body = http::body_of(std::move(verdict.body))};
}

}  // namespace fairlead::webhook
