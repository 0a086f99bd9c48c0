// What the files of the gate share: a webhook with what is known of it, and a request that is held.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/server/gate.h"

namespace fairlead::gate {

// A webhook, with what is known of it.
struct Gate::Tracked {
  Tracked(Loop& loop, HookPtr which, TimePoint registered)
      : hook(std::move(which)), health(registered, loop.now()), woken(loop), stop(nullptr) {}

  HookPtr hook;
  Health health;
  Signal woken;
  CancelSource stop;
  // Requests that wait for it now.
  size_t waiting = 0;
  // What was called last, and when every address first answered.
  Look called;
  TimePoint called_at{};
  std::optional<TimePoint> answers_since;
  // People were told that requests wait, and that the patience was used up.
  bool told_waiting = false;
  bool told_spent = false;
};

struct Gate::Held {
  std::string object;
  std::string user;
  std::string hook;
  TimePoint since;
};

struct Gate::Awaiting {
  std::vector<AwaitedHook> hooks;
  std::set<std::string, std::less<>> backing;
};

// "Widget team/w"
std::string object_text(const webhook::Request& request);
// "2030-01-01T00:00:00Z"
std::string timestamp(WallTime time);

}  // namespace fairlead::gate
