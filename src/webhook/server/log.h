// The server's log: JSON, one line each. For any thread: lines come whole, and in the order of their times.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "async/loop.h"
#include "base/json.h"
#include "webhook/server/routes.h"

namespace fairlead::webhook {

class Log {
 public:
  // Gets whole lines, one or more, from one thread at a time.
  using Sink = std::function<void(std::string_view lines)>;
  // Which reviews have a line: each, those that were not simply allowed, or none.
  enum class Reviews { all, not_allowed, none };

  // The loop must outlive it, and it is destroyed there.
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
  // The next three under the mutex.
  void begin(std::string_view level, std::string_view message);
  void write_out();
  void flush_soon();

  Loop& loop_;
  Sink sink_;
  Reviews reviews_;
  std::mutex mutex_;
  // All of these under the mutex, but for the timer, which is the loop's.
  std::string lines_;
  // The last second that was written, and how.
  std::chrono::sys_seconds second_{};
  std::string second_text_;
  bool flushes_soon_ = false;
  std::optional<Loop::TimerId> timer_;
  // Gone when the log is.
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace fairlead::webhook
