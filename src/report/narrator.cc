#include "report/narrator.h"

#include <fmt/format.h>

#include "base/colours.h"
#include "logs/logs.h"
#include "report/internal/words.h"

namespace fairlead::report {
namespace {

using journal::Event;
using journal::EventKind;

std::string subject_of(const Event& event) {
  return event.key.kind.empty() ? std::string(event.details["guard"].string_or("")) : event.key.text();
}

std::string warning_of(const Event& event) {
  std::string subject = event.key.kind.empty() ? "" : event.key.text() + ": ";
  std::string text = fmt::format("warning: {}{}", subject, event.text);
  if (event.error && !event.error->where().empty()) text += "\n  from      " + event.error->where();
  if (event.error && !event.error->next().empty()) text += "\n  next      " + event.error->next();
  return text;
}

std::string with_subject(const Event& event) {
  std::string subject = subject_of(event);
  return subject.empty() ? event.text : fmt::format("{}: {}", subject, event.text);
}

void tell_note(const Event& event, std::vector<Line>& lines) {
  if (!event.text.empty()) lines.push_back({.text = with_subject(event), .tone = Tone::quiet});
}

void tell_warning(const Event& event, std::vector<Line>& lines) {
  lines.push_back({.text = warning_of(event), .tone = Tone::trouble, .is_problem = true});
}

// The rung of its proof that a guard has reached.
void tell_guard(const Event& event, std::vector<Line>& lines) {
  lines.push_back(
      {.text = fmt::format("{} is {}: {}", subject_of(event), event.state, event.text), .tone = Tone::quiet});
}

// What a container wrote.
void tell_log(const Event& event, std::vector<Line>& lines) {
  lines.push_back({.text = logs::line_text(event.details["pod"].string_or(""), event.details["container"].string_or(""),
                                           event.text),
                   .tone = Tone::quiet});
}

}  // namespace

std::string_view colour_of(Tone tone) {
  switch (tone) {
    case Tone::good: return colours::kGood;
    case Tone::quiet: return colours::kFaint;
    case Tone::trouble: return colours::kTrouble;
    case Tone::bad: return colours::kBad;
    case Tone::plain: return "";
  }
  return "";
}

std::vector<Line> Narrator::read(const Event& event) {
  std::vector<Line> lines = gathering_.take(event.at);
  tell(event, lines);
  // Without gathering, everything is told at once.
  if (options_.all)
    for (Line& line : gathering_.take_all()) lines.push_back(std::move(line));
  return lines;
}

void RolloutNarrator::tell(const Event& event, std::vector<Line>& lines) {
  std::string subject = subject_of(event);
  bool is_live = options_.is_beside_live_view;
  switch (event.kind) {
    case EventKind::started: objects_ = uint64_t(event.details["objects"].int_or(0)); break;
    case EventKind::stored: tell_stored(event); break;
    case EventKind::progress: tell_progress(event, lines); break;
    case EventKind::ready: tell_ready(event); break;
    case EventKind::failed: tell_failed(event, lines); break;
    case EventKind::waiting: tell_waiting(event, lines); break;
    case EventKind::parked:
      waiting_[event.key].is_notable = true;
      if (!is_live && is_new(event.text))
        lines.push_back({.text = fmt::format("{} waits: {}", subject, event.text), .tone = Tone::quiet});
      break;
    case EventKind::guard:
      if (!is_live) tell_guard(event, lines);
      break;
    case EventKind::removed: gathering_.add(event.at, Happening::deleted, event.key); break;
    case EventKind::note: tell_note(event, lines); break;
    case EventKind::warning: tell_warning(event, lines); break;
    case EventKind::log: tell_log(event, lines); break;
    default: break;
  }
}

void RolloutNarrator::tell_stored(const Event& event) {
  waiting_[event.key].since = event.at;
  if (event.state == "unchanged") ++ready_;
  if (event.state == "created") gathering_.add(event.at, Happening::created, event.key);
  if (event.state == "changed") gathering_.add(event.at, Happening::changed, event.key);
}

void RolloutNarrator::tell_progress(const Event& event, std::vector<Line>& lines) {
  Waiting& waiting = waiting_[event.key];
  waiting.is_notable = true;
  std::string subject = event.key.text();
  if (event.state == "stuck")
    lines.push_back({.text = fmt::format("{} is stuck: {}", subject, event.text), .tone = Tone::trouble});
  if (event.state == "trouble")
    lines.push_back({.text = fmt::format("{} is not ready: {}", subject, event.text), .tone = Tone::trouble});
  if (event.state != "starting" || options_.is_beside_live_view || waiting.is_starting_told) return;
  waiting.is_starting_told = true;
  lines.push_back({.text = fmt::format("{} is not ready yet: {}", subject, event.text), .tone = Tone::quiet});
}

void RolloutNarrator::tell_ready(const Event& event) {
  ++ready_;
  auto found = waiting_.find(event.key);
  if (found == waiting_.end()) return;
  if (found->second.is_notable) gathering_.add(event.at, Happening::ready, event.key, event.at - found->second.since);
  waiting_.erase(found);
}

// The whole error follows at the end of the run, once per cause.
void RolloutNarrator::tell_failed(const Event& event, std::vector<Line>& lines) {
  waiting_.erase(event.key);
  if (!event.error) return;
  const Error* cause = event.error->cause();
  if (!is_new("failed: " + (cause ? cause->message() : event.error->what()))) return;
  lines.push_back(
      {.text = fmt::format("{}{}", event.error->what(), cause ? ": " + cause->what() : ""), .tone = Tone::bad});
}

void RolloutNarrator::tell_waiting(const Event& event, std::vector<Line>& lines) {
  if (options_.is_beside_live_view || event.text.empty()) return;
  std::string count = objects_ == 0 ? "" : fmt::format("{} of {} ready; ", with_commas(ready_), with_commas(objects_));
  lines.push_back({.text = fmt::format("after {}: {}still waiting: {}", clock_text(event.at), count, event.text)});
}

void RemovalNarrator::tell(const Event& event, std::vector<Line>& lines) {
  std::string subject = subject_of(event);
  switch (event.kind) {
    case EventKind::removed:
      if (event.text.empty()) gathering_.add(event.at, Happening::deleted, event.key);
      else lines.push_back({.text = fmt::format("{} deleted: {}", subject, event.text)});
      break;
    case EventKind::progress:
      if (event.state == "stuck")
        lines.push_back({.text = fmt::format("{} is stuck: {}", subject, event.text), .tone = Tone::trouble});
      break;
    case EventKind::note: tell_note(event, lines); break;
    case EventKind::waiting:
      if (!options_.is_beside_live_view)
        lines.push_back({.text = fmt::format("after {}: still waiting: {}", clock_text(event.at), event.text)});
      break;
    case EventKind::warning:
    case EventKind::error:
      lines.push_back(
          {.text = fmt::format("warning: {}{}", with_subject(event), event.error ? ": " + event.error->message() : ""),
           .tone = Tone::trouble,
           .is_problem = true});
      break;
    default: break;
  }
}

void WaitNarrator::tell(const Event& event, std::vector<Line>& lines) {
  std::string subject = subject_of(event);
  bool is_live = options_.is_beside_live_view;
  switch (event.kind) {
    case EventKind::progress:
      if (!is_live && told_.insert(event.key).second)
        lines.push_back({.text = fmt::format("{} waits: {}", subject, event.text), .tone = Tone::quiet});
      break;
    case EventKind::ready:
      lines.push_back(
          {.text = fmt::format("{} {} after {}", subject, event.state, clock_text(event.at)), .tone = Tone::good});
      break;
    case EventKind::failed:
      if (event.error) lines.push_back({.text = event.error->message(), .tone = Tone::bad});
      break;
    case EventKind::guard:
      if (!is_live) tell_guard(event, lines);
      break;
    case EventKind::waiting:
      if (!is_live)
        lines.push_back({.text = fmt::format("after {}: {} of {} met; still waiting: {}", clock_text(event.at),
                                             with_commas(uint64_t(event.details["met"].int_or(0))),
                                             with_commas(uint64_t(event.details["objects"].int_or(0))), event.text)});
      break;
    case EventKind::note: tell_note(event, lines); break;
    case EventKind::warning: tell_warning(event, lines); break;
    default: break;
  }
}

}  // namespace fairlead::report
