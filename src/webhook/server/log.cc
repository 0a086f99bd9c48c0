#include "webhook/server/log.h"

#include <fmt/chrono.h>

#include "base/printable.h"

namespace fairlead::webhook {
namespace {

constexpr size_t kTogether = size_t{32} << 10;
constexpr Duration kSoon = std::chrono::milliseconds(20);
// Longer than any name of Kubernetes; what is longer was made to fill the log.
constexpr size_t kMaxText = 300;

void append_text(std::string& out, std::string_view key, std::string_view text, size_t most = kMaxText) {
  if (text.empty()) return;
  out.append(",\"").append(key).append("\":");
  append_json_string(out, text.size() <= most ? text : printable(text.substr(0, most)));
}

std::string_view level_of(Decided decided) {
  switch (decided) {
    case Decided::allowed:
    case Decided::elsewhere:
    case Decided::denied: return "info";
    case Decided::refused:
    case Decided::malformed:
    case Decided::shed: return "warning";
    case Decided::failed:
    case Decided::late: return "error";
  }
  return "error";
}

}  // namespace

Log::Log(Loop& loop, Sink sink, Reviews reviews) : loop_(loop), sink_(std::move(sink)), reviews_(reviews) {}

Log::~Log() {
  if (timer_) loop_.cancel_timer(*timer_);
  flush();
}

void Log::flush() {
  std::lock_guard lock(mutex_);
  write_out();
}

void Log::write_out() {
  if (!lines_.empty()) sink_(lines_);
  lines_.clear();
}

// Only the loop's own thread may set timers.
void Log::flush_soon() {
  if (std::exchange(flushes_soon_, true)) return;
  loop_.post([this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    timer_ = loop_.call_after(kSoon, [this] {
      timer_.reset();
      std::lock_guard lock(mutex_);
      flushes_soon_ = false;
      write_out();
    });
  });
}

void Log::begin(std::string_view level, std::string_view message) {
  auto now = std::chrono::floor<std::chrono::milliseconds>(loop_.clock().wall_now());
  auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  if (seconds != second_) {
    second_ = seconds;
    second_text_ = fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
  }
  fmt::format_to(std::back_inserter(lines_), R"({{"time":"{}.{:03}Z","level":"{}","message":)", second_text_,
                 (now - seconds).count(), level);
  append_json_string(lines_, message);
}

void Log::line(std::string_view level, std::string_view message, Json::Object fields) {
  std::lock_guard lock(mutex_);
  begin(level, message);
  for (const Json::Member& member : fields) {
    lines_ += ',';
    append_json_string(lines_, member.key);
    lines_ += ':';
    member.value.append_to(lines_);
  }
  lines_ += "}\n";
  write_out();
}

void Log::review(std::string_view path, const ReviewFacts& facts, Duration took) {
  if (reviews_ == Reviews::none || (reviews_ == Reviews::not_allowed && facts.decided == Decided::allowed)) return;
  std::lock_guard lock(mutex_);
  begin(level_of(facts.decided), "review");
  append_text(lines_, "path", path);
  append_text(lines_, "resource", facts.resource);
  append_text(lines_, "version", facts.version);
  append_text(lines_, "subresource", facts.subresource);
  append_text(lines_, "namespace", facts.ns);
  append_text(lines_, "name", facts.name);
  append_text(lines_, "operation", facts.operation);
  append_text(lines_, "user", facts.user);
  if (facts.dry_run) lines_ += R"(,"dryRun":true)";
  append_text(lines_, "decision", name_of(facts.decided));
  append_text(lines_, "cause", facts.cause, 2000);
  if (!facts.warnings.empty()) {
    lines_ += ",\"warnings\":";
    Json(Json::Array(facts.warnings.begin(), facts.warnings.end())).append_to(lines_);
  }
  fmt::format_to(std::back_inserter(lines_), R"(,"milliseconds":{:.3f})",
                 std::chrono::duration<double, std::milli>(took).count());
  lines_ += "}\n";
  if (lines_.size() >= kTogether) write_out();
  else flush_soon();
}

}  // namespace fairlead::webhook
