#include "readiness/shadow.h"

#include "readiness/internal/shadow_marker.h"
#include "readiness/internal/shadow_mirror.h"

namespace fairlead::readiness {

using kube::Outcome;

struct Prover::Parts {
  Parts(kube::Client& client, Options options) : stage(client, std::move(options)), markers(stage), mirrors(stage) {}

  ShadowStage stage;
  ShadowMarkers markers;
  ShadowMirrors mirrors;
};

Prover::Prover(kube::Client& client, Options options) : parts_(std::make_unique<Parts>(client, std::move(options))) {}
Prover::~Prover() = default;

Task<Outcome<Proof>> Prover::created_in_effect(GuardKind kind, uint64_t connection) {
  return parts_->markers.created(kind, connection);
}
Task<Outcome<Proof>> Prover::updated_in_effect(object::Key configuration, uint64_t connection) {
  return parts_->markers.updated(std::move(configuration), connection);
}
Task<Outcome<Proof>> Prover::mirror(Target target, uint64_t connection) {
  return parts_->mirrors.ask(std::move(target), connection);
}
Task<Outcome<Proof>> Prover::mirror_endpoints(Target target, std::vector<Endpoint> endpoints, uint64_t connection) {
  return parts_->mirrors.ask_each(std::move(target), std::move(endpoints), connection);
}
Task<void> Prover::clean_up() { return parts_->stage.clear(); }
Task<Outcome<size_t>> Prover::sweep() { return parts_->stage.sweep(); }
Task<size_t> Prover::sweep(std::span<const Json> listed) { return parts_->stage.sweep(listed); }

}  // namespace fairlead::readiness
