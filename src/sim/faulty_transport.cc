#include "sim/faulty_transport.h"

#include <fmt/format.h>

#include <optional>

#include "base/json.h"

namespace fairlead::sim {
namespace {

// Bodies are cut within this many bytes of their start.
constexpr uint64_t kCutWithin = 4096;

Error connection_cut() { return Error(ErrorKind::unavailable, "the connection was cut"); }
Error connection_reset() {
  return http::may_have_been_processed(Error(ErrorKind::unavailable, "the connection was reset"));
}

// Gives so many bytes of another body, and then an error; at its end if it is shorter.
class CutBody final : public http::Body {
 public:
  CutBody(std::unique_ptr<http::Body> body, size_t left) : body_(std::move(body)), left_(left) {}
  Task<Result<std::optional<std::string>>> read() override {
    if (left_ == 0) co_return fail(connection_cut());
    CO_TRY_ASSIGN(std::optional<std::string> piece, co_await body_->read());
    if (!piece) co_return fail(connection_cut());
    if (piece->size() > left_) piece->resize(left_);
    left_ -= piece->size();
    co_return piece;
  }

 private:
  std::unique_ptr<http::Body> body_;
  size_t left_;
};

// Until the run is healed: a watch has no end of its own.
class SlowBody final : public http::Body {
 public:
  SlowBody(Loop& loop, const History& history, std::unique_ptr<http::Body> body, Random random, Duration delay)
      : loop_(loop), history_(history), body_(std::move(body)), random_(random), delay_(delay) {}
  Task<Result<std::optional<std::string>>> read() override {
    if (!history_.healed()) CO_TRY(co_await sleep_for(loop_, some_time(random_, delay_)));
    co_return co_await body_->read();
  }

 private:
  Loop& loop_;
  const History& history_;
  std::unique_ptr<http::Body> body_;
  Random random_;
  Duration delay_;
};

http::Answer status_answer(int code, std::string_view reason, std::string_view message, http::Headers headers = {}) {
  Json status(Json::Object{{"kind", "Status"},
                           {"apiVersion", "v1"},
                           {"metadata", Json::Object{}},
                           {"status", "Failure"},
                           {"message", message},
                           {"reason", reason},
                           {"code", code}});
  headers.add("Content-Type", "application/json");
  return {.status = code, .headers = std::move(headers), .body = http::body_of(status.dump())};
}

http::Answer too_many_answer() {
  return {.status = 429,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Retry-After", "1"}},
          .body = http::body_of("Too many requests, please try again later.\n")};
}

bool can_expire(const http::Request& request) {
  return request.long_lived || request.target.find("continue=") != std::string::npos;
}

// At most one trouble a request; each has its own chance.
std::optional<Trouble> draw(Random& random, const Rates& rates, const http::Request& request) {
  const std::pair<Trouble, double> kinds[] = {
      {Trouble::late, rates.late},
      {Trouble::lost_request, rates.lost_request},
      {Trouble::lost_answer, rates.lost_answer},
      {Trouble::straggler, request.long_lived ? 0 : rates.straggler},
      {Trouble::repeated, request.long_lived ? 0 : rates.repeated},
      {Trouble::too_many, rates.too_many},
      {Trouble::server_error, rates.server_error},
      {Trouble::not_available, rates.not_available},
      {Trouble::cut_body, rates.cut_body},
      {Trouble::slow_body, rates.slow_body},
      {Trouble::expired, can_expire(request) ? rates.expired : 0},
  };
  std::optional<Trouble> drawn;
  // Every chance is drawn, so that changing one rate does not change which requests the others hit.
  for (const auto& [trouble, rate] : kinds)
    if (bool hit = random.chance(rate); hit && !drawn) drawn = trouble;
  return drawn;
}

}  // namespace

std::string_view name_of(Trouble trouble) {
  switch (trouble) {
    case Trouble::late: return "late";
    case Trouble::lost_request: return "lost request";
    case Trouble::lost_answer: return "lost answer";
    case Trouble::straggler: return "straggler";
    case Trouble::repeated: return "repeated";
    case Trouble::too_many: return "429";
    case Trouble::server_error: return "500";
    case Trouble::not_available: return "503";
    case Trouble::cut_body: return "cut body";
    case Trouble::slow_body: return "slow body";
    case Trouble::expired: return "410";
  }
  return "unknown";
}

Task<Result<http::Answer>> FaultyTransport::open(http::Request request) {
  uint64_t number = requests_++;
  Random random = dice(seed_, name_, number);
  std::optional<Trouble> trouble = draw(random, rates_, request);
  if (trouble && !history_.fault(name_, number)) trouble.reset();
  Duration way_out = some_time(random, rates_.latency);
  Duration way_back = some_time(random, rates_.latency);
  std::string what;
  history_.note(name_, [&] {
    what = fmt::format("#{} {} {}", number, request.method, request.target);
    return trouble ? fmt::format("{} ({})", what, name_of(*trouble)) : what;
  });

  CO_TRY(co_await sleep_for(loop_, way_out));
  Result<http::Answer> answer =
      co_await (trouble ? suffer(*trouble, random, std::move(request)) : inner_.open(std::move(request)));
  // Whoever gave up is not told.
  CO_TRY(co_await sleep_for(loop_, way_back));
  history_.note(name_, [&] {
    return answer ? fmt::format("{}: {}", what, answer->status)
                  : fmt::format("{}: {}", what, answer.error().root().what());
  });
  co_return answer;
}

Task<Result<http::Answer>> FaultyTransport::suffer(Trouble trouble, Random random, http::Request request) {
  Duration pause = some_time(random, rates_.delay);
  switch (trouble) {
    case Trouble::late: {
      Result<http::Answer> answer = co_await inner_.open(std::move(request));
      CO_TRY(co_await sleep_for(loop_, pause));
      co_return answer;
    }
    case Trouble::lost_request: {
      CO_TRY(co_await sleep_for(loop_, pause));
      co_return fail(connection_reset());
    }
    case Trouble::lost_answer: {
      (void)co_await inner_.open(std::move(request));
      CO_TRY(co_await sleep_for(loop_, pause));
      co_return fail(connection_reset());
    }
    case Trouble::straggler: {
      stragglers_.spawn(carry_out_later(pause, std::move(request)));
      co_return fail(connection_reset());
    }
    case Trouble::repeated: {
      (void)co_await inner_.open(request);
      CO_TRY(co_await sleep_for(loop_, pause));
      co_return co_await inner_.open(std::move(request));
    }
    case Trouble::too_many: co_return too_many_answer();
    case Trouble::server_error:
      if (random.chance(0.5)) (void)co_await inner_.open(std::move(request));
      co_return status_answer(500, "InternalError", "Internal error occurred: etcdserver: leader changed");
    case Trouble::not_available:
      co_return status_answer(503, "ServiceUnavailable", "apiserver is shutting down", {{"Retry-After", "1"}});
    case Trouble::cut_body: {
      CO_TRY_ASSIGN(http::Answer answer, co_await inner_.open(std::move(request)));
      answer.body = std::make_unique<CutBody>(std::move(answer.body), random.below(kCutWithin));
      co_return answer;
    }
    case Trouble::slow_body: {
      CO_TRY_ASSIGN(http::Answer answer, co_await inner_.open(std::move(request)));
      answer.body = std::make_unique<SlowBody>(loop_, history_, std::move(answer.body), random, rates_.delay);
      co_return answer;
    }
    case Trouble::expired:
      co_return status_answer(410, "Expired", "The resourceVersion for the provided watch is too old.");
  }
  co_return fail(connection_reset());
}

Task<void> FaultyTransport::carry_out_later(Duration delay, http::Request request) {
  if (!co_await sleep_for(loop_, delay)) co_return;
  history_.note(name_, [&] { return fmt::format("straggler {} {} arrives", request.method, request.target); });
  (void)co_await inner_.open(std::move(request));
}

Task<void> FaultyTransport::stop() {
  stragglers_.cancel();
  co_await stragglers_.join();
}

}  // namespace fairlead::sim
