// The bundle's claim, from before the first object until after the last write: taken, kept, given back.
//
// A webhook that fails closed and does not answer can stand in the way of the bundle's record (inventory.h), and may be
// one that only this bundle can repair. Then the run goes on without the claim: what the record covers as it is gets
// sent, the rest waits; the claim is taken as soon as the webhook answers, and always before anything is pruned.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "inventory/inventory.h"
#include "rollout/evidence.h"
#include "rollout/guards.h"
#include "rollout/retry_gates.h"
#include "rollout/run.h"

namespace fairlead::rollout {

class ClaimKeeper {
 public:
  // Without an inventory (null) there is nothing to hold, and in a dry run nobody does. `lost`: the bundle is not ours
  // any more, and all work on it has to stop.
  ClaimKeeper(Run& run, inventory::Inventory* inventory, Guards& guards, Evidence& evidence, RetryGates& gates,
              std::function<void()> lost)
      : run_(run),
        inventory_(run.options.dry_run ? nullptr : inventory),
        guards_(guards),
        evidence_(evidence),
        gates_(gates),
        lost_(std::move(lost)),
        changed_(run.loop) {}

  // Before the first object. A failure ends the run; FaultKind::namespace_missing as Inventory::claim has it.
  Task<kube::Outcome<void>> take();
  // Beside the work, until it is cancelled: takes the claim if that is still to be done, and renews it.
  Task<void> hold();

  // The record covers the object, or is about to be written with it.
  bool is_recorded(uint32_t node) const;
  // Until it is. `last` tells meanwhile why not. Fails when cancelled.
  Task<Result<void>> await_record(uint32_t node, std::optional<kube::Failure>& last);
  // Before anything is removed: until the claim is taken. An error says why it was not.
  Task<std::optional<Error>> await_claim();

  // Another run was at work on the bundle between the reading of its members and the claim.
  bool was_overtaken() const { return inventory_ && inventory_->claimed() && inventory_->overtaken(); }
  // Why the bundle is not ours any more.
  const std::optional<Error>& loss() const { return loss_; }
  // The end, hold() being over: the record covers exactly `remaining`, or, where nobody can say, what it covered.
  Task<void> give_back(const std::optional<std::vector<object::Key>>& remaining);

 private:
  std::vector<inventory::Wanted> wanted() const;
  // Watches what stands in the way; gives the guard, where it is known.
  std::optional<uint32_t> look_at(const kube::Fault& fault);
  // The bundle has what registers the guard, or what answers for it.
  bool can_repair(uint32_t guard) const;
  void go_without(const kube::Fault& fault);
  Error error(const kube::Fault& fault, Duration within) const;

  Run& run_;
  inventory::Inventory* inventory_;
  Guards& guards_;
  Evidence& evidence_;
  RetryGates& gates_;
  std::function<void()> lost_;
  Signal changed_;
  // What keeps the claim from being taken, while the run goes on without it.
  std::optional<kube::Fault> without_;
  std::optional<Error> loss_;
};

}  // namespace fairlead::rollout
