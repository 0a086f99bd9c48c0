#include "report/plan_progress.h"

#include <unistd.h>

#include <algorithm>

#include "report/internal/words.h"

namespace fairlead::report {
namespace {

using journal::EventKind;

constexpr Duration kFirst = std::chrono::seconds(1);
constexpr Duration kFrame = std::chrono::milliseconds(250);
constexpr Duration kReminder = std::chrono::seconds(30);

void write(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

}  // namespace

PlanProgress::PlanProgress(Loop& loop, std::FILE* stream)
    : loop_(loop), stream_(stream), is_live_(is_terminal(::fileno(stream))), frames_(has_colours(::fileno(stream))) {}

std::string PlanProgress::text() const {
  return fmt::format("checked {} of {} object{}", with_commas(std::min(checked_, objects_)), with_commas(objects_),
                     objects_ == 1 ? "" : "s");
}

void PlanProgress::read(const journal::Event& event) {
  if (event.kind == EventKind::started) {
    objects_ = static_cast<uint64_t>(std::max<int64_t>(event.details["objects"].int_or(0), 0));
    arm();
  }
  bool is_unchecked = event.kind == EventKind::warning && event.state == "unchecked";
  if (event.kind == EventKind::stored || event.kind == EventKind::failed || is_unchecked) ++checked_;
  // Somebody is about to print it.
  if (event.kind == EventKind::warning) erase();
}

void PlanProgress::arm() {
  if (timer_ || is_stopped_) return;
  Duration pause = is_live_ ? (is_late_ ? kFrame : kFirst) : kReminder;
  timer_ = loop_.call_after(pause, [this] {
    timer_.reset();
    is_late_ = true;
    show();
    arm();
  });
}

void PlanProgress::show() {
  if (is_live_) write(stream_, frames_.draw({}, {Line{.text = text()}}));
  else write(stream_, text() + "\n");
}

void PlanProgress::erase() {
  if (is_live_) write(stream_, frames_.erase());
}

void PlanProgress::stop() {
  if (timer_) loop_.cancel_timer(*timer_);
  timer_.reset();
  if (!is_stopped_) erase();
  is_stopped_ = true;
}

}  // namespace fairlead::report
