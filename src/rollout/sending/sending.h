// Sends each object until it is stored, refused for good, or out of time.
#pragma once

#include <set>

#include "kube/discovery.h"
#include "rollout/core/retry.h"
#include "rollout/core/run.h"
#include "rollout/guards/evidence.h"
#include "rollout/guards/guards.h"
#include "rollout/guards/retry_gates.h"
#include "rollout/sending/claim_keeper.h"
#include "rollout/sending/forecaster.h"
#include "rollout/sending/precedence.h"
#include "rollout/sending/tracking.h"

namespace fairlead::rollout {

class Sender {
 public:
  Sender(kube::Client& client, kube::Discovery& discovery, Run& run, ClaimKeeper& claim_keeper, Guards& guards,
         Tracker& tracker, Evidence& evidence, RetryGates& gates)
      : client_(client),
        discovery_(discovery),
        run_(run),
        claim_keeper_(claim_keeper),
        guards_(guards),
        tracker_(tracker),
        evidence_(evidence),
        gates_(gates),
        precedence_(run),
        freed_(run.loop()),
        forecaster_(client, run) {}

  // Sends the object, or does nothing if it is unchanged, and lets the tracker follow it. Requires that its needs are
  // met. Run one task per object.
  Task<void> send(NodeId node);

 private:
  // How to continue after a refusal.
  enum class Next { give_up, pause, park, resolve_conflict, recreate, make_anew };
  // How to continue after a successful apply.
  enum class Then { accept, apply_again, await_gone };

  // The state that changes from one attempt to send an object to the next.
  struct Attempt {
    uint64_t connection = 0;
    bool force = false;
    Backoff pauses = kRetryPauses;
  };

  // Sends the object until it is stored or refused for good. When the task is cancelled, `last` has the last refusal.
  Task<Result<void>> send_until_stored(NodeId node, RetryGate::Place& place, std::optional<kube::Failure>& last);
  // Prepares the first attempt: waits until the kind is known and the guards can be reached, and sets the namespace.
  // Returns true if the object is settled by that.
  [[gnu::noinline]] Task<Result<bool>> make_sendable(NodeId node, RetryGate::Place& place,
                                                     std::optional<kube::Failure>& last);
  // Makes one attempt, and waits as its answer requires. Returns true if the object is settled.
  //
  // Thousands of objects wait for their turn. If the compiler inlined the coroutines of an attempt, each of these
  // objects would use the memory of a whole attempt (19 KB) while it waits.
  [[gnu::noinline]] Task<Result<bool>> send_once(NodeId node, Attempt& attempt, RetryGate::Place& place,
                                                 std::optional<kube::Failure>& last);
  // Does what decide() says about a refusal. Returns true if the object is settled.
  [[gnu::noinline]] Task<Result<bool>> answer_refusal(NodeId node, Attempt& attempt, RetryGate::Place& place,
                                                      const kube::Failure& failure);
  // In a dry run: returns why the refusal says nothing about the object; empty if it does.
  std::string reason_not_to_check(Next next, const kube::Failure& failure) const;
  // Waits until another request may be sent. Fails when cancelled.
  Task<Result<void>> take_turn();
  Task<kube::Outcome<kube::Reply>> apply(NodeId node, uint64_t connection, bool force);
  // Makes this run the manager of the fields of former managers. `answer` is the object as the API server returned it.
  Task<kube::Outcome<void>> take_over(NodeId node, uint64_t connection, const Json& answer);
  Then decide(const Json& answer) const;
  // True if the object's CRD changed in this run so recently that the API server may still use the former schema.
  bool may_have_outdated_schema(NodeId node, const kube::Fault& fault) const;
  // True if the object is in the cluster as it would be sent, and neither its namespace nor its CRD was created in this
  // run.
  bool is_still_unchanged(NodeId node) const;
  void tell_taken_over(NodeId node, const std::vector<std::string>& managers);
  void tell_pause(NodeId node, const kube::Failure& failure);
  Next decide(NodeId node, const kube::Failure& failure) const;
  // True if the cause of the fault will pass: by itself, or because the bundle contains the object that is awaited.
  bool is_expected(NodeId node, const kube::Fault& fault) const;
  bool brings_parameters(std::string_view policy) const;
  // Before the first attempt: waits until the guards that have to answer can be reached, and says in `last` what it
  // waits for.
  Task<Result<void>> await_reach(NodeId node, RetryGate::Place& place, std::optional<kube::Failure>& last);
  Task<Result<void>> park(NodeId node, const kube::Fault& fault, RetryGate::Place& place);
  // Waits until the cluster serves the object's kind, and says in `last` what it waits for.
  Task<Result<void>> learn_kind(NodeId node, std::optional<kube::Failure>& last);
  // Handles a conflict with other field managers. Returns true if the object was refused; otherwise it has to be sent
  // again, by force if `force` was set.
  Task<Result<bool>> resolve_conflict(NodeId node, const kube::Failure& failure, bool& force);
  // Deletes the object, since a field that cannot be changed differs. Returns true if the object was refused, since it
  // could not be deleted; otherwise the old one is deleted, and the object has to be sent again.
  Task<Result<bool>> recreate(NodeId node);
  // For a Helm hook: deletes the object of an earlier run, if there is one and it is ours. Returns true if the object
  // is settled by that: in a dry run, or because it was refused.
  Task<Result<bool>> make_anew(NodeId node);
  Task<Result<void>> await_gone(NodeId node);
  void accept(NodeId node, kube::Reply reply);
  // In a dry run: the API server cannot check the object. Settles it. The forecast is made by the caller.
  void settle_unchecked(NodeId node, std::string text);
  // The same for an object that is created, or that is changed if it exists.
  Task<void> unchecked(NodeId node, std::string text, bool may_exist);
  // In a dry run: the object would be deleted and created again.
  Task<void> replace_unchecked(NodeId node, std::string text);
  // In a dry run: the user may not patch the object, so it is compared without the API server. Returns true if the
  // object is settled.
  Task<Result<bool>> compare_instead(NodeId node, Attempt& attempt, RetryGate::Place& place,
                                     const kube::Failure& failure);
  // In a dry run: finds out what the object would be if the fields of others were taken over.
  Task<Result<void>> foresee_conflict(NodeId node, const kube::Fault& conflict);
  void belongs_elsewhere(NodeId node, const inventory::Owner& owner);
  void refuse(NodeId node, const kube::Failure& failure, std::optional<Duration> within);

  kube::Client& client_;
  kube::Discovery& discovery_;
  Run& run_;
  ClaimKeeper& claim_keeper_;
  Guards& guards_;
  Tracker& tracker_;
  Evidence& evidence_;
  RetryGates& gates_;
  Precedence precedence_;
  // The number of objects that are being sent; `freed_` wakes a task that waits for one of them to end.
  size_t in_flight_ = 0;
  Signal freed_;
  Forecaster forecaster_;
  std::set<NodeId> made_anew_;
};

}  // namespace fairlead::rollout
