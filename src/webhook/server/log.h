// The server's log: JSON, one line each.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "async/loop.h"
#include "base/json.h"
#include "webhook/server/routes.h"

namespace fairlead::webhook {

class Log {
 public:
  // Gets whole lines, one or more.
  using Sink = std::function<void(std::string_view lines)>;
  // Which reviews have a line: each, those that were not simply allowed, or none.
  enum class Reviews { all, not_allowed, none };

  // The loop must outlive it.
  Log(Loop& loop, Sink sink, Reviews reviews = Reviews::all);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void info(std::string_view message, Json::Object fields = {}) { line("info", message, std::move(fields)); }
  void warn(std::string_view message, Json::Object fields = {}) { line("warning", message, std::move(fields)); }
  void error(std::string_view message, Json::Object fields = {}) { line("error", message, std::move(fields)); }
  // Lines of reviews are written together, a few milliseconds later.
  void review(std::string_view path, const ReviewFacts& facts, Duration took);
  void flush();

 private:
  void line(std::string_view level, std::string_view message, Json::Object fields);
  void begin(std::string_view level, std::string_view message);

  Loop& loop_;
  Sink sink_;
  Reviews reviews_;
  std::string lines_;
  // The last second that was written, and how.
  std::chrono::sys_seconds second_{};
  std::string second_text_;
  std::optional<Loop::TimerId> timer_;
};

}  // namespace fairlead::webhook
