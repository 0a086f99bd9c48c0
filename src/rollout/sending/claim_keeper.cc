#include "rollout/sending/claim_keeper.h"

#include "rollout/guards/causes.h"

namespace fairlead::rollout {
namespace {

using journal::EventKind;
using kube::Fault;

// How long to retry a claim that is refused for a cause that may pass.
constexpr Duration kClaimFor = std::chrono::minutes(5);
// A webhook that is only being restarted usually answers again within this time.
constexpr Duration kBlip = std::chrono::seconds(5);
constexpr Duration kReminder = std::chrono::seconds(30);
// How long to retry giving back the claim while a webhook blocks it. The rollout worked, so the webhook should answer.
constexpr Duration kGivingBack = std::chrono::seconds(15);

bool may_pass(const kube::Failure& failure) {
  if (failure.is(kube::FaultKind::namespace_missing)) return false;
  const Fault* fault = failure.fault();
  return fault && (inventory::webhook_in_the_way(failure) || fault->disposition != kube::Disposition::permanent);
}

}  // namespace

std::vector<inventory::Wanted> ClaimKeeper::wanted() const {
  std::vector<inventory::Wanted> wanted;
  for (const object::Object& object : run_.bundle().objects) wanted.push_back({object.key(), object.version()});
  return wanted;
}

std::optional<GuardId> ClaimKeeper::look_at(const Fault& fault) {
  std::optional<GuardId> guard = fault.webhook ? guards_.find_webhook(*fault.webhook) : std::nullopt;
  if (guard) guards_.held_at(*guard);
  return guard;
}

bool ClaimKeeper::can_repair(GuardId guard) const {
  const graph::Guard& it = run_.graph().guards()[guard];
  return it.object || !it.backed_by.empty();
}

Error ClaimKeeper::error(const Fault& fault, Duration within) const {
  std::optional<GuardId> guard = fault.webhook ? guards_.find_webhook(*fault.webhook) : std::nullopt;
  std::optional<inventory::Claim> other;
  if (!inventory_->is_free()) other = inventory_->claimed_by();
  return unclaimed_error(run_, evidence_,
                         {.bundle = inventory_->name(),
                          .home = inventory_->home(),
                          .record = inventory_->parent().text(),
                          .guard = guard,
                          .repairable = guard && can_repair(*guard),
                          .other = other ? other->holder : std::string()},
                         fault, within);
}

void ClaimKeeper::go_without(const Fault& fault) {
  without_ = fault;
  run_.note(
      EventKind::warning,
      fmt::format("the bundle is not claimed, and other runs are not kept out, until webhook {} answers: {}. The "
                  "webhook is part of this bundle, so objects that the inventory already covers are applied anyway",
                  fault.webhook->name, fault.explanation));
}

Task<kube::Outcome<void>> ClaimKeeper::take() {
  if (!inventory_) co_return kube::Outcome<void>();
  RetryGate::Place place;
  TimePoint begun = run_.loop().now();
  std::string told;
  TimePoint told_at = begun;
  while (true) {
    kube::Outcome<void> claimed = co_await inventory_->claim(wanted());
    if (claimed) place.passed();
    if (claimed || !may_pass(claimed.error())) co_return claimed;
    const Fault fault = *claimed.error().fault();
    std::optional<GuardId> guard = look_at(fault);
    bool can_go_on = guard && can_repair(*guard) && inventory_->exists() && inventory_->is_free();
    if (can_go_on && run_.loop().now() - begun >= kBlip) {
      go_without(fault);
      co_return kube::Outcome<void>();
    }
    if (told != fault.explanation || run_.loop().now() - told_at >= kReminder) {
      run_.note(EventKind::waiting, "the bundle cannot be claimed yet: " + fault.explanation);
      told = fault.explanation;
      told_at = run_.loop().now();
    }
    Result<void> waited =
        co_await with_deadline(run_.loop(), begun + kClaimFor, "too late", place.wait(gates_.at(gate_for(fault))));
    bool late = !waited && waited.error().kind() == ErrorKind::timeout;
    if (late) co_return std::unexpected(kube::Failure(error(fault, kClaimFor)));
    if (!waited && run_.halt().out_of_time())
      co_return std::unexpected(kube::Failure(error(fault, run_.options().timeout)));
    if (!waited) co_return std::unexpected(kube::Failure(waited.error()));
  }
}

Task<void> ClaimKeeper::hold() {
  if (!inventory_ || (!without_ && !inventory_->claimed())) co_return;
  RetryGate::Place place;
  while (without_) {
    if (!co_await place.wait(gates_.at(gate_for(*without_)))) co_return;
    kube::Outcome<void> claimed = co_await inventory_->claim(wanted());
    if (claimed) {
      without_.reset();
      place.passed();
      run_.note(EventKind::note, "the bundle is now claimed");
    } else if (may_pass(claimed.error())) {
      without_ = *claimed.error().fault();
      (void)look_at(*without_);
    } else {
      loss_ = claimed.error().error();
      if (loss_->kind() == ErrorKind::cancelled) loss_.reset();
      else lost_();
      changed_.notify_all();
      co_return;
    }
    changed_.notify_all();
  }
  Result<void> end = co_await inventory_->keep();
  if (end || end.error().kind() == ErrorKind::cancelled) co_return;
  loss_ = end.error();
  lost_();
}

bool ClaimKeeper::is_recorded(NodeId node) const { return !without_ || inventory_->covers(run_.object(node).key()); }

Task<Result<void>> ClaimKeeper::await_record(NodeId node, std::optional<kube::Failure>& last) {
  Fault fault = *without_;
  fault.explanation = fmt::format("the inventory of the bundle, {}, must cover it first: {}",
                                  inventory_->parent().text(), fault.explanation);
  ObjectState& state = run_.edit(node);
  state.waited_for = gate_for(fault);
  run_.tell(EventKind::parked, node, std::string(kube::name_of(fault.kind)), fault.explanation);
  last = kube::Failure(fault);
  state.fault = std::move(fault);
  while (!is_recorded(node)) CO_TRY(co_await changed_.wait());
  co_return Result<void>();
}

Task<std::optional<Error>> ClaimKeeper::await_claim() {
  TimePoint until = run_.loop().now() + kClaimFor;
  while (without_ && !loss_) {
    Result<void> woken = co_await with_deadline(
        run_.loop(), until, "too late",
        [](Signal& changed) -> Task<Result<void>> { co_return co_await changed.wait(); }(changed_));
    if (!woken && woken.error().kind() == ErrorKind::timeout) co_return error(*without_, kClaimFor);
    if (!woken) co_return woken.error();
  }
  co_return std::nullopt;
}

Task<void> ClaimKeeper::give_back(const std::optional<std::vector<object::Key>>& remaining) {
  if (!inventory_) co_return;
  // The webhook may answer by now, or may no longer block the record.
  if (without_ && remaining && !loss_ && inventory_->is_free() && co_await inventory_->claim(wanted()))
    without_.reset();
  if (!inventory_->claimed()) co_return;
  TimePoint until = run_.loop().now() + kGivingBack;
  for (Duration pause = std::chrono::milliseconds(100);; pause *= 2) {
    // Objects that another run added meanwhile are not known here, and stay covered.
    bool settles = remaining && !inventory_->overtaken();
    kube::Outcome<void> end = settles ? co_await inventory_->settle(*remaining) : co_await inventory_->release();
    if (end) co_return;
    bool again = remaining && inventory::webhook_in_the_way(end.error()) && run_.loop().now() + pause < until;
    if (again && co_await sleep_for(run_.loop(), pause)) continue;
    run_.note(EventKind::warning, "the claim of the bundle could not be released: " + end.error().error().message());
    co_return;
  }
}

}  // namespace fairlead::rollout
