#include "report/retry_report.h"

#include <algorithm>

#include "report/output.h"

namespace fairlead::report {

using journal::Event;
using journal::EventKind;

void RetryReport::say(const std::string& text) {
  if (quiet_ || !said_.insert(text).second) return;
  print(err_, fmt::format("fairlead: {}\n", text));
  std::fflush(err_);
}

bool RetryReport::has_said(std::string_view text) const {
  return std::ranges::any_of(said_, [&](const std::string& one) { return one.contains(text); });
}

void RetryReport::read(const Event& event) {
  switch (event.kind) {
    case EventKind::progress:
      if (event.state == "running") said_.clear();
      // The failure of the command has often said it already.
      else if (!has_said(event.text)) say(fmt::format("{}: {}", event.key.text(), event.text));
      break;
    case EventKind::waiting: say(fmt::format("still waiting for {}", event.text)); break;
    case EventKind::note:
      if (!event.text.empty()) say(event.text);
      break;
    case EventKind::warning: say("warning: " + event.text); break;
    default: break;
  }
}

void RetryReport::finish(const retry::Ending& ending) {
  size_t runs = ending.attempts.size();
  if (ending.how == retry::Ending::How::done && runs > 1)
    say(fmt::format("done after {} {} in {:.1f}s", runs - 1, runs == 2 ? "retry" : "retries", seconds(ending.took)));
  for (const journal::Cause& cause : ending.causes) print(err_, cause_text(cause));
  if (ending.how == retry::Ending::How::interrupted) print(err_, "error: interrupted\n");
  std::fflush(err_);
}

}  // namespace fairlead::report
