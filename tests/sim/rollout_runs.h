// Runs of the engine with a random bundle: killed, repeated, in an older form first, or two at once.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "rollout/rollout.h"
#include "rollout_judge.h"
#include "scenarios.h"

namespace fairlead::sim {

class Rollouts {
 public:
  Rollouts(World& world, std::shared_ptr<Judge> judge, RolloutSabotage sabotage);

  // It has a name, and so an inventory: what it has no more can be pruned, and only one run works on it at a time.
  bool named() const { return !options_.name.empty(); }
  void prune() { options_.prune = true; }
  bool ever_killed() const { return !killed_.empty(); }

  // Once or twice, killed or not, with whatever comes of it.
  Task<void> run_older(const std::vector<BundleObject>& objects);
  // A dry run, with whatever comes of it.
  Task<void> rehearse();
  // Again and again until it is done. What was killed may end as it likes; so may what never began.
  Task<void> run_until_done();
  // Another run, which begins meanwhile, with the same manifests or with some more fields in them: it is done, or has
  // not sent anything.
  Task<void> run_rival();
  // What the rival has rolled out is newer than what the others have.
  bool rival_was_last() const { return rival_ended_ > ended_; }
  // Once; it has to be done.
  Task<void> run_again();

 private:
  struct End {
    rollout::Ending ending;
    std::string run;
    bool killed = false;
    bool faulty = false;
  };
  Task<End> run(manifest::Bundle bundle, std::optional<Duration> killed_after);
  void fail_with(const End& end);

  World& world_;
  std::shared_ptr<Judge> judge_;
  RolloutSabotage sabotage_;
  rollout::Options options_;
  // The API servers take no notice of label selectors.
  bool ignores_selectors_ = false;
  // The user may read namespaced kinds in single namespaces only.
  bool has_few_rights_ = false;
  uint64_t runs_ = 0;
  // When the rival and the others were last done.
  TimePoint rival_ended_{};
  TimePoint ended_{};
  std::set<std::string, std::less<>> killed_;
};

}  // namespace fairlead::sim
