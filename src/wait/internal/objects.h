// Follows the objects of targets by watches. Objects of the same kind and namespace share a watch where the user may
// list them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kube/watched.h"
#include "rollout/guards/evidence.h"
#include "wait/internal/kinds.h"
#include "wait/internal/run.h"
#include "wait/internal/webhooks.h"

namespace fairlead::wait {

class Objects {
 public:
  // The watches run in the scope.
  Objects(Run& run, Kinds& kinds, Webhooks& webhooks, rollout::Evidence& evidence, Scope& scope)
      : run_(run), kinds_(kinds), webhooks_(webhooks), evidence_(evidence), scope_(scope), any_changed_(run.loop) {}

  // Follows the objects of the unit until it is settled. Run one task per unit.
  Task<void> follow(Unit& unit);
  // Ends the units that an API server that does not answer would keep waiting for ever. Runs until it is cancelled.
  Task<void> end_overdue();
  // True if it ended any.
  bool has_given_up() const { return has_given_up_; }
  // Call when pods or StorageClasses have changed.
  void evidence_changed();

 private:
  struct View {
    std::unique_ptr<kube::Watched> watched;
    std::unique_ptr<Signal> changed;
  };
  // A subject, and what was last judged of it.
  struct Judged {
    Subject* subject = nullptr;
    std::string version = {};
    uint64_t evidence = 0;
    // A controller writes conditions into the status of objects of this kind.
    bool status_expected = false;
    // Only the API of a CRD is still missing.
    bool awaits_api = false;
  };

  Task<Result<void>> follow_named(Unit& unit);
  Task<Result<void>> follow_object(Unit& unit, const object::Resource& resource);
  Task<Result<void>> follow_group(Unit& unit);
  Task<Result<void>> follow_webhook(Unit& unit);
  Task<Result<void>> follow_kind(Unit& unit);
  // Why nothing arrives, as far as the watches tell.
  Error silence() const;
  void end_unread(Unit& unit);
  // Says as well if the API server has stopped answering.
  void time_out(Subject& subject, const View& view);
  // What shows the objects of a group.
  std::string list_command(const Target& target) const;
  Task<void> prove(Subject& subject, Webhooks::Look look);

  // The kind is one that is proved instead of judged.
  bool is_proved(const object::Resource& resource) const;
  Result<void> check_form(const Target& target, const object::Resource& resource) const;
  View& view(const object::Resource& resource, kube::WatchOptions options);
  // Whether the user may read the object at all; fails at once if not.
  Task<Result<void>> check_access(const object::Resource& resource, const object::Key& key);
  bool shares_watch(const Target& target) const;
  Task<bool> expects_status(const object::Resource& resource);
  Task<Result<bool>> is_served(const Json& definition);

  void judge(Judged& judged, const object::Resource& resource, const Json* object);
  void judge_removal(Subject& subject, const object::Resource& resource, const Json* object);
  readiness::Options options_for(const Judged& judged, const Json& object);
  readiness::Why why(const Subject& subject, const Json& object);
  // When the subject has to be looked at again although nothing has changed.
  TimePoint next_look(const Judged& judged) const;
  // Judges what the views of a group show. Settles the unit if all of it is met.
  void judge_group(Unit& unit, const std::vector<std::pair<object::Resource, View*>>& views,
                   std::map<object::Key, Judged>& judged, Scope& proofs);

  Run& run_;
  Kinds& kinds_;
  Webhooks& webhooks_;
  rollout::Evidence& evidence_;
  Scope& scope_;
  std::map<std::string, View> views_;
  Signal any_changed_;
  uint64_t evidence_changes_ = 1;
  bool has_given_up_ = false;
};

}  // namespace fairlead::wait
