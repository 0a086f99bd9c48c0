// Calls webhooks through mirrors. A mirror is a hook of our own with the address and caBundle of a guard, which matches
// only our probes. A call of the mirror ends as a call of the guard would, and its result is always visible.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "async/signal.h"
#include "readiness/internal/shadow_stage.h"

namespace fairlead::readiness {

class ShadowMirrors {
 public:
  explicit ShadowMirrors(ShadowStage& stage) : stage_(stage), changed_(stage.loop()) {}

  Task<kube::Outcome<Proof>> ask(Target target, uint64_t connection);
  Task<kube::Outcome<Proof>> ask_each(Target target, std::vector<Endpoint> endpoints, uint64_t connection);

 private:
  // The mirror of one target with one timeout. Guards with the same address and settings share it.
  struct Mirror {
    bool being_placed = true;
    Stamp stamp;
    std::optional<Proof> refusal;
    std::optional<kube::Failure> failure;
    // The connections whose API server has used the mirror.
    std::set<uint64_t> seen_over;
  };
  using MirrorPtr = std::shared_ptr<Mirror>;

  static std::string key_of(const Target& target, int seconds);
  // Returns the mirror of a target. Creates it if there is none, or if it expires soon.
  Task<Result<MirrorPtr>> stand(const Target& target, int seconds);
  void drop(const std::string& key, const MirrorPtr& mirror);
  Task<kube::Outcome<Proof>> ask_within(Target target, int seconds, uint64_t connection);
  Task<void> ask_endpoint(Target target, uint64_t connection, kube::Outcome<Proof>& proof);

  ShadowStage& stage_;
  Signal changed_;
  std::map<std::string, MirrorPtr> mirrors_;
  // Keys of the mirrors that did not answer within the first, short timeout.
  std::set<std::string> slow_;
};

}  // namespace fairlead::readiness
