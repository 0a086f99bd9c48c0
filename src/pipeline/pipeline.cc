#include "pipeline/pipeline.h"

#include <algorithm>

namespace fairlead::pipeline {

std::string_view name_of(Action action) {
  switch (action) {
    case Action::started: return "started";
    case Action::resumed: return "resumed";
    case Action::completed: return "completed";
    case Action::failed: return "failed";
    case Action::timed_out: return "timedOut";
    case Action::skipped: return "skipped";
    case Action::retry: return "retry";
    case Action::interrupted: return "interrupted";
    case Action::reset: return "reset";
  }
  return "";
}

std::optional<size_t> Pipeline::find(std::string_view phase) const {
  auto found = std::ranges::find(phases, phase, &Phase::name);
  return found == phases.end() ? std::nullopt : std::optional(size_t(found - phases.begin()));
}

std::vector<size_t> Pipeline::with_dependents(size_t phase) const {
  std::vector<bool> is_meant(phases.size());
  is_meant[phase] = true;
  // A phase may stand before one that it needs, so once through the file is not enough.
  for (bool has_changed = true; std::exchange(has_changed, false);)
    for (size_t i = 0; i < phases.size(); ++i) {
      bool needs_one = std::ranges::any_of(phases[i].needs, [&](size_t need) { return is_meant[need]; });
      if (is_meant[i] || !needs_one) continue;
      is_meant[i] = has_changed = true;
    }
  std::vector<size_t> found;
  for (size_t i = 0; i < phases.size(); ++i)
    if (is_meant[i]) found.push_back(i);
  return found;
}

}  // namespace fairlead::pipeline
