// A Transport for tests that stands between a client and an API server.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "http/message.h"

namespace fairlead::kube {

// Returns the answer of an API server that refuses a request, with a Status of that code, reason and message.
inline http::Answer refusal(int code, std::string_view reason, std::string_view message) {
  return {.status = code,
          .headers = {{"Content-Type", "application/json"}},
          .body = http::body_of(fmt::format(R"({{"kind":"Status","apiVersion":"v1","status":"Failure",)"
                                            R"("reason":"{}","message":"{}","code":{}}})",
                                            reason, message, code))};
}

// An Interceptor passes requests on to `to`, and does to them what the test has set. Each function is called for every
// request that the ones declared above it let through.
class Interceptor final : public http::Transport {
 public:
  explicit Interceptor(http::Transport& to) : to_(to) {}

  // True if the request gets no answer.
  std::function<bool(const http::Request&)> fails;
  // True if the request gets a 403.
  std::function<bool(const http::Request&)> forbids;
  // Happens before the request is carried out.
  std::function<Task<void>(const http::Request&)> before;
  // Returns an answer to give instead of carrying the request out.
  std::function<std::optional<http::Answer>(const http::Request&)> answers;
  // Changes the server's answer.
  std::function<void(http::Answer&)> after;

  Task<Result<http::Answer>> open(http::Request request) override {
    if (fails && fails(request)) co_return fail(ErrorKind::unavailable, "connection refused");
    if (forbids && forbids(request)) co_return refusal(403, "Forbidden", "may not");
    if (before) co_await before(request);
    if (std::optional<http::Answer> own = answers ? answers(request) : std::nullopt) co_return *std::move(own);
    Result<http::Answer> answer = co_await to_.open(std::move(request));
    if (answer && after) after(*answer);
    co_return answer;
  }

 private:
  http::Transport& to_;
};

}  // namespace fairlead::kube
