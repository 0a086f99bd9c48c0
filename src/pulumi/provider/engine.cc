#include "pulumi/provider/engine.h"

#include <fmt/format.h>

namespace fairlead::pulumi {
namespace {

constexpr size_t kMostWaiting = 200;

}  // namespace

void LogQueue::add(LogLine line) {
  if (line.is_ephemeral && lines_.size() >= kMostWaiting) return;
  lines_.push_back(std::move(line));
  if (std::exchange(is_sending_, true)) return;
  scope_.spawn(send());
}

Task<void> LogQueue::send() {
  while (!lines_.empty()) {
    LogLine line = std::move(lines_.front());
    lines_.pop_front();
    co_await engine_.log(std::move(line));
  }
  is_sending_ = false;
  idle_.notify_all();
}

Task<void> LogQueue::flush() {
  while (is_sending_) (void)co_await idle_.wait_uncancelled();
}

void CallLog::write(Level level, std::string_view message, const Json&) {
  bool is_detail = level == Level::trace || level == Level::debug;
  queue_.add({.severity = is_detail ? LogLine::Severity::debug : LogLine::Severity::info,
              .text = secrets_.without(message),
              .urn = urn_,
              .is_ephemeral = !is_detail});
}

void CallLog::tell_warnings(const terraform::Diagnostics& diagnostics, const Facade& facade) {
  for (const terraform::Diagnostic& one : diagnostics.all())
    if (one.severity == terraform::Diagnostic::Severity::warning)
      queue_.add({.severity = LogLine::Severity::warning, .text = text_of(one, facade, secrets_), .urn = urn_});
}

std::string text_of(const terraform::Diagnostic& diagnostic, const Facade& facade, const Secrets& secrets) {
  std::string text = diagnostic.summary;
  if (!diagnostic.detail.empty()) text += "\n" + diagnostic.detail;
  while (text.ends_with('\n')) text.pop_back();
  return secrets.without(in_words_of_pulumi(text, facade));
}

}  // namespace fairlead::pulumi
