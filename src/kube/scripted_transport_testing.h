// A server that says what it was told to say, in order: for tests.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "async/scope.h"
#include "http/message.h"
#include "object/resource.h"

namespace fairlead::kube {

// A piece of a body, after a pause; or the way it ends: with an error, or (neither) as it should.
struct Piece {
  std::string text;
  std::optional<Error> error;
  Duration after{};
};

struct Step {
  int status = 200;
  std::string body;
  http::Headers headers;
  // Instead of an answer.
  std::optional<Error> error;
  Duration after{};
  // Instead of `body`: a stream. It hangs at its end, unless its last piece is one.
  std::vector<Piece> stream;
};

class ScriptedTransport final : public http::Transport {
 public:
  explicit ScriptedTransport(Loop& loop) : loop_(loop) {}

  ScriptedTransport& say(Step step) {
    steps_.push_back(std::move(step));
    return *this;
  }
  // Once the script is over, again and again.
  ScriptedTransport& then_always(Step step) {
    always_ = std::move(step);
    return *this;
  }

  Task<Result<http::Answer>> open(http::Request request) override {
    seen.push_back(request);
    Step step;
    if (!steps_.empty()) {
      step = std::move(steps_.front());
      steps_.pop_front();
    } else if (always_) {
      step = *always_;
    } else {
      ADD_FAILURE() << "nothing is left to say to " << request.method << " " << request.target;
      co_return fail(ErrorKind::internal, "the script is over");
    }
    if (step.after > Duration(0)) CO_TRY(co_await sleep_for(loop_, step.after));
    if (step.error) co_return fail(*step.error);
    http::Answer answer{.status = step.status, .headers = step.headers, .connection = 1};
    answer.body =
        step.stream.empty() ? http::body_of(step.body) : std::make_unique<StreamBody>(loop_, std::move(step.stream));
    co_return std::move(answer);
  }

  std::vector<std::string> targets() const {
    std::vector<std::string> result;
    for (const http::Request& request : seen) result.push_back(request.method + " " + request.target);
    return result;
  }
  size_t left() const { return steps_.size(); }

  std::vector<http::Request> seen;

 private:
  class StreamBody final : public http::Body {
   public:
    StreamBody(Loop& loop, std::vector<Piece> pieces) : loop_(loop), pieces_(pieces.begin(), pieces.end()) {}
    Task<Result<std::optional<std::string>>> read() override {
      if (pieces_.empty()) {
        CO_TRY(co_await sleep_for(loop_, std::chrono::hours(24 * 365)));
        co_return fail(ErrorKind::internal, "a stream that hangs was read for a year");
      }
      Piece piece = std::move(pieces_.front());
      pieces_.pop_front();
      if (piece.after > Duration(0)) CO_TRY(co_await sleep_for(loop_, piece.after));
      if (piece.error) co_return fail(*piece.error);
      if (piece.text.empty()) co_return std::nullopt;
      co_return std::optional<std::string>(std::move(piece.text));
    }

   private:
    Loop& loop_;
    std::deque<Piece> pieces_;
  };

  Loop& loop_;
  std::deque<Step> steps_;
  std::optional<Step> always_;
};

inline object::Resource pods() {
  return {.group = "", .version = "v1", .kind = "Pod", .plural = "pods", .singular = "pod", .namespaced = true};
}

inline Error connection_lost() { return Error(ErrorKind::unavailable, "the connection was lost"); }

}  // namespace fairlead::kube
