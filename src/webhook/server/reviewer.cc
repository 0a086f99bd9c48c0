#include "webhook/server/reviewer.h"

#include <algorithm>
#include <charconv>

#include "async/background_loop.h"
#include "base/duration_text.h"
#include "base/printable.h"

namespace fairlead::webhook {
namespace {

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

DefaultThreads default_threads(std::string_view cpu_max, size_t processors) {
  int64_t quota = 0, period = 0;
  auto [quota_end, no_quota] = std::from_chars(cpu_max.data(), cpu_max.data() + cpu_max.size(), quota);
  std::string_view rest = cpu_max.substr(static_cast<size_t>(quota_end - cpu_max.data()));
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  auto [period_end, no_period] = std::from_chars(rest.data(), rest.data() + rest.size(), period);
  bool is_limited = no_quota == std::errc() && no_period == std::errc() && quota > 0 && period > 0;
  if (is_limited) processors = std::min(processors, static_cast<size_t>(1 + (quota - 1) / period));
  return {.serving = std::clamp<size_t>(processors, 1, 4), .workers = std::clamp<size_t>(processors, 2, 4)};
}

void Reviewer::note(const Route& route, const Verdict& verdict, TimePoint start) {
  Duration took = loop_.now() - start;
  setting_.metrics.count(route.path, verdict.facts.decided, took);
  setting_.log.review(route.path, verdict.facts, took);
}

Task<std::optional<Verdict>> Reviewer::decide_on(const Route& route, std::string body, TimePoint deadline) {
  const ReviewLimits& limits = setting_.limits;
  bool is_quick = limits.quick_bytes > 0 && !limits.is_large(body.size()) && setting_.usual.of(route) <= limits.quick;
  if (!is_quick)
    co_return co_await result_on(loop_, setting_.loop,
                                 [&] { return setting_.queue.decide(route, std::move(body), deadline); });
  Timed timed = decide_timed(route, body);
  setting_.usual.learn(route, timed.took);
  co_return std::move(timed.verdict);
}

Task<void> Reviewer::respect_territory(const Route& route, Verdict& verdict) {
  if (!setting_.territory || verdict.uid.empty()) co_return;
  auto ask = [&]() -> Task<std::optional<std::string>> {
    co_return setting_.territory->left_to(route.kind, verdict.facts.ns);
  };
  std::optional<std::string> others = co_await result_on(loop_, setting_.loop, ask);
  if (others) leave_to(*others, verdict);
}

Task<http::Answer> Reviewer::answer(http::Request request) {
  TimePoint start = loop_.now();
  std::string_view target = request.target;
  std::string_view path = target.substr(0, target.find('?'));
  std::string_view query = path.size() < target.size() ? target.substr(path.size() + 1) : "";
  const Route* route = setting_.routes.find(path);
  if (!route) {
    setting_.metrics.count_unknown_path();
    co_return refuse(404, fmt::format("there is no webhook at {}\n", printable_line(path.substr(0, 200))));
  }
  if (std::optional<http::Answer> wrong = wrong_head(request)) {
    setting_.metrics.count_refused(wrong->status);
    co_return std::move(*wrong);
  }
  TimePoint deadline = start + time_to_decide(timeout_in(query).value_or(setting_.limits.timeout));
  std::optional<Verdict> verdict = co_await decide_on(*route, std::move(request.body), deadline);
  if (!verdict) {
    note(*route, {.facts = {.decided = Decided::shed, .cause = "too many reviews at once"}}, start);
    co_return shed();
  }
  co_await respect_territory(*route, *verdict);
  note(*route, *verdict, start);
  if (verdict->status != 200) co_return refuse(verdict->status, std::move(verdict->body));
  co_return http::Answer{.headers = {{"Content-Type", "application/json"}},
                         .body = http::body_of(std::move(verdict->body))};
}

}  // namespace fairlead::webhook
