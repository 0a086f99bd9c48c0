// Mirrors: hooks of our own with a guard's address and trust, which only our probes meet. How the call of one ends is
// how a call of the guard would, and nothing hides it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/signal.h"
#include "readiness/shadow_stage.h"

namespace fairlead::readiness {

class ShadowMirrors {
 public:
  explicit ShadowMirrors(ShadowStage& stage) : stage_(stage), changed_(stage.loop()) {}

  Task<kube::Outcome<Proof>> ask(Target target, uint64_t connection);
  Task<kube::Outcome<Proof>> ask_each(Target target, std::vector<Endpoint> endpoints, uint64_t connection);

 private:
  // One target, with the time that it is given. Guards that are asked in the same way share it.
  struct Mirror {
    bool being_placed = true;
    Stamp stamp;
    std::optional<Proof> refusal;
    std::optional<kube::Failure> failure;
    // The connections whose server has shown that it uses it.
    std::set<uint64_t> seen_over;
  };
  using MirrorPtr = std::shared_ptr<Mirror>;

  static std::string key_of(const Target& target, int seconds);
  // The mirror as it stands; made if there is none, or if its time is nearly over.
  Task<Result<MirrorPtr>> stand(const Target& target, int seconds);
  void drop(const std::string& key, const MirrorPtr& mirror);
  Task<kube::Outcome<Proof>> ask_within(Target target, int seconds, uint64_t connection);
  Task<void> ask_endpoint(Target target, uint64_t connection, kube::Outcome<Proof>& proof);

  ShadowStage& stage_;
  Signal changed_;
  std::map<std::string, MirrorPtr> mirrors_;
  // Those that did not answer within the first, short time.
  std::set<std::string> slow_;
};

}  // namespace fairlead::readiness
