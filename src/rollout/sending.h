// Sends objects: each until it is stored, refused for good, or out of time.
#pragma once

#include <deque>
#include <set>

#include "rollout/claim_keeper.h"
#include "rollout/evidence.h"
#include "rollout/guards.h"
#include "rollout/precedence.h"
#include "rollout/retry_gates.h"
#include "rollout/run.h"
#include "rollout/tracking.h"

namespace fairlead::rollout {

class Sender {
 public:
  Sender(Run& run, ClaimKeeper& claim_keeper, Guards& guards, Tracker& tracker, Evidence& evidence, RetryGates& gates)
      : run_(run),
        claim_keeper_(claim_keeper),
        guards_(guards),
        tracker_(tracker),
        evidence_(evidence),
        gates_(gates),
        precedence_(run),
        freed_(run.loop) {}

  // Its needs are met. One task an object.
  Task<void> send(uint32_t node);

 private:
  // What to do about a refusal.
  enum class Next { give_up, pause, park, conflict_rules, recreate, make_anew };
  // What a successful apply leaves to do.
  enum class Then { accept, apply_again, await_gone };

  // What changes from one attempt to send an object to the next.
  struct Attempt {
    uint64_t connection = 0;
    bool force = false;
    Duration pause{};
  };

  // Sends the object until it is stored or refused for good. `last` holds the last refusal when the task is cancelled.
  Task<Result<void>> send_until_stored(uint32_t node, RetryGate::Place& place, std::optional<kube::Failure>& last);
  // Everything before the first attempt: the kind is known, the namespace is set, and the guards can be reached. True
  // if the object is settled by that.
  [[gnu::noinline]] Task<Result<bool>> make_sendable(uint32_t node, RetryGate::Place& place,
                                                     std::optional<kube::Failure>& last);
  // One attempt, and the wait that its answer asks for. True if the object is settled.
  //
  // Thousands of objects wait for their turn. If the compiler inlined the coroutines of an attempt, each of these
  // objects would hold the memory of a whole attempt (19 KB) while it waits.
  [[gnu::noinline]] Task<Result<bool>> send_once(uint32_t node, Attempt& attempt, RetryGate::Place& place,
                                                 std::optional<kube::Failure>& last);
  // Does what `decide` says about a refusal. True if the object is settled.
  [[gnu::noinline]] Task<Result<bool>> answer_refusal(uint32_t node, Attempt& attempt, RetryGate::Place& place,
                                                      const kube::Failure& failure);
  // In a dry run: why that refusal says nothing about the object; empty if it does.
  std::string reason_not_to_check(Next next, const kube::Failure& failure) const;
  // Until few enough are under way for one more. Fails when cancelled.
  Task<Result<void>> take_turn();
  Task<kube::Outcome<kube::Reply>> apply(uint32_t node, uint64_t connection, bool force);
  // Makes the fields of former managers of the object, as it was answered, those of this run.
  Task<kube::Outcome<void>> take_over(uint32_t node, uint64_t connection, const Json& answer);
  Then decide(const Json& answer) const;
  // The object's CRD changed in this run so short a time ago that the API server may still use its former schema.
  bool may_have_outdated_schema(uint32_t node, const kube::Fault& fault) const;
  // In a dry run: reads the object as it is, where only a comparison can tell whether the apply would change it.
  Task<void> look_for_comparison(uint32_t node, const kube::Reply& reply);
  // The object is in the cluster as it would be sent, and what it is in was not made anew in this run.
  bool is_still_unchanged(uint32_t node) const;
  void tell_taken_over(uint32_t node, const std::vector<std::string>& managers);
  void tell_pause(uint32_t node, const kube::Failure& failure);
  Next decide(uint32_t node, const kube::Failure& failure) const;
  // Whether what it waits for comes with the bundle, where it does not come by itself.
  bool is_expected(uint32_t node, const kube::Fault& fault) const;
  bool brings_parameters(std::string_view policy) const;
  // Before the first try: until it makes sense. `last` tells meanwhile what it waits for.
  Task<Result<void>> await_reach(uint32_t node, RetryGate::Place& place, std::optional<kube::Failure>& last);
  Task<Result<void>> park(uint32_t node, const kube::Fault& fault, RetryGate::Place& place);
  // `last` tells meanwhile what it waits for.
  Task<Result<void>> learn_kind(uint32_t node, std::optional<kube::Failure>& last);
  // Other field managers own fields of the object. True if it was refused for that; otherwise it is to be sent again,
  // by force or not.
  Task<Result<bool>> conflict_rules(uint32_t node, const kube::Failure& failure, bool& force);
  // A field that cannot be changed differs. True if the object was refused, since it could not be deleted; otherwise
  // the old one is gone, and it is to be sent again.
  Task<Result<bool>> recreate(uint32_t node);
  // Of a hook of Helm: deletes the one of an earlier run, if there is one and it is ours. True if the object is settled
  // by that: in a dry run, or since it was refused.
  Task<Result<bool>> make_anew(uint32_t node);
  Task<Result<void>> await_gone(uint32_t node);
  void accept(uint32_t node, kube::Reply reply);
  void unchecked(uint32_t node, std::string text);
  void belongs_elsewhere(uint32_t node, const inventory::Owner& owner);
  void refuse(uint32_t node, const kube::Failure& failure, std::optional<Duration> within);

  Run& run_;
  ClaimKeeper& claim_keeper_;
  Guards& guards_;
  Tracker& tracker_;
  Evidence& evidence_;
  RetryGates& gates_;
  Precedence precedence_;
  // How many are under way, and who waits for one of them to end.
  size_t in_flight_ = 0;
  // Objects that were read for a comparison; run_.live points to them.
  std::deque<Json> compared_;
  Signal freed_;
  std::set<uint32_t> made_anew_;
};

// The object as it goes out: with the bundle's label, and without what injectors own.
Json as_sent(const object::Object& object, std::string_view part_of);

}  // namespace fairlead::rollout
