// Takes, renews and gives back the bundle's claim, from before the first object is sent until after the last write.
//
// A webhook that fails closed and does not answer can block writes of the bundle's record (inventory.h), and this
// bundle may be the only one that can repair the webhook. The run then continues without the claim: objects that the
// record already covers are sent, the others wait. The claim is taken as soon as the webhook answers, and always before
// anything is pruned.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "inventory/inventory.h"
#include "rollout/core/run.h"
#include "rollout/guards/evidence.h"
#include "rollout/guards/guards.h"
#include "rollout/guards/retry_gates.h"

namespace fairlead::rollout {

class ClaimKeeper {
 public:
  // Does nothing if `inventory` is null, or in a dry run. Calls `lost` when the bundle no longer belongs to this run,
  // and all work on it has to stop.
  ClaimKeeper(Run& run, inventory::Inventory* inventory, Guards& guards, Evidence& evidence, RetryGates& gates,
              std::function<void()> lost)
      : run_(run),
        inventory_(run.options().dry_run ? nullptr : inventory),
        guards_(guards),
        evidence_(evidence),
        gates_(gates),
        lost_(std::move(lost)),
        changed_(run.loop()) {}

  // Takes the claim, or decides to continue without it. Call before the first object is sent. A failure ends the run,
  // except FaultKind::namespace_missing, which means what Inventory::claim says.
  Task<kube::Outcome<void>> take();
  // Takes the claim if take() did not, and renews it. Run beside the work. Ends when cancelled or when the claim is
  // lost.
  Task<void> hold();

  // False if the object must not be sent yet: the run continues without the claim, and the record does not cover the
  // object.
  bool is_recorded(NodeId node) const;
  // Waits until is_recorded(), and says in `last` why it waits. Requires that it is false now. Fails when cancelled.
  Task<Result<void>> await_record(NodeId node, std::optional<kube::Failure>& last);
  // Waits until the claim is taken or lost. Call before anything is deleted. Returns an error if it was not taken in
  // time.
  Task<std::optional<Error>> await_claim();

  // True if another run worked on the bundle after its members were read and before the claim was taken.
  bool was_overtaken() const { return inventory_ && inventory_->claimed() && inventory_->overtaken(); }
  // Why the bundle no longer belongs to this run; empty if it does.
  const std::optional<Error>& loss() const { return loss_; }
  // Gives the claim back at the end of a run. Requires that hold() has ended. The record then covers exactly
  // `remaining`; without a value, or if another run added to it, it covers what it covered before. A failure is only a
  // warning.
  Task<void> give_back(const std::optional<std::vector<object::Key>>& remaining);

 private:
  std::vector<inventory::Wanted> wanted() const;
  // Watches the guard that the fault names, and returns it; nothing if it is not known.
  std::optional<GuardId> look_at(const kube::Fault& fault);
  // True if the bundle contains the object that registers the guard, or objects that back it.
  bool can_repair(GuardId guard) const;
  void go_without(const kube::Fault& fault);
  Error error(const kube::Fault& fault, Duration within) const;

  Run& run_;
  inventory::Inventory* inventory_;
  Guards& guards_;
  Evidence& evidence_;
  RetryGates& gates_;
  std::function<void()> lost_;
  Signal changed_;
  // The fault that blocks the claim, while the run continues without it.
  std::optional<kube::Fault> without_;
  std::optional<Error> loss_;
};

}  // namespace fairlead::rollout
