// Finds out whether the API server uses a marker. A marker is a hook or policy that refuses or changes a probe on
// purpose. Once the API server uses it, everything that was registered before it is in effect.
#pragma once

#include "readiness/internal/shadow_stage.h"

namespace fairlead::readiness {

class ShadowMarkers {
 public:
  explicit ShadowMarkers(ShadowStage& stage) : stage_(stage) {}

  Task<kube::Outcome<Proof>> created(GuardKind kind, uint64_t connection);
  Task<kube::Outcome<Proof>> updated(object::Key configuration, uint64_t connection);

 private:
  // Sends probes until one shows that the API server uses the marker, or until the time is up. `hook` is empty for
  // policies.
  Task<kube::Outcome<Proof>> seek(GuardKind kind, Stamp stamp, std::string hook, uint64_t connection);
  Task<kube::Outcome<Proof>> seek_guest(GuardKind kind, ShadowStage::Guest guest, uint64_t connection);

  ShadowStage& stage_;
};

}  // namespace fairlead::readiness
