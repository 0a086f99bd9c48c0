// Makes sure that the gate has seen what was registered before a request. An object can follow the webhook that guards
// it within milliseconds, and the API server that calls the gate knows of the webhook before the gate's watch does.
#pragma once

#include <memory>

#include "gate/server/view.h"

namespace fairlead::gate {

class CatchUp {
 public:
  // Both must outlive it.
  CatchUp(kube::Client& client, const View& view, Signal& view_changed)
      : client_(client), view_(view), view_changed_(view_changed) {}

  // Lists the webhook configurations, and waits until the view shows all of them; until `deadline` at the latest.
  // Requests that come while a list is under way share the next one, which runs in `scope`.
  Task<void> wait(Scope& scope, TimePoint deadline);

 private:
  struct Round;

  Task<void> work();
  Task<void> look();
  Task<void> look_at(bool mutates);

  kube::Client& client_;
  const View& view_;
  Signal& view_changed_;
  // The round that has not begun yet, which is the one to wait for.
  std::shared_ptr<Round> next_;
  bool works_ = false;
};

}  // namespace fairlead::gate
