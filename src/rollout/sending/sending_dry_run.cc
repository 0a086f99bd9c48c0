// The parts of Sender that only a dry run uses.
#include "rollout/sending/sending.h"

namespace fairlead::rollout {

using journal::EventKind;
using kube::Failure;
using kube::Fault;
using kube::FaultKind;

std::string Sender::reason_not_to_check(Next next, const Failure& failure) const {
  if (!run_.options().dry_run) return {};
  // The webhook cannot be called in a dry run. That says nothing about the object.
  if (next == Next::give_up && failure.is(FaultKind::webhook_no_dry_run))
    return "it cannot be checked: " + failure.fault()->explanation;
  if (next != Next::park) return {};
  switch (failure.fault()->wait.what) {
    case kube::Awaited::namespace_there: return "its namespace is created by this bundle";
    case kube::Awaited::definition: return "its CRD is created by this bundle";
    default: return "it cannot be checked before the rest of the bundle is applied: " + failure.fault()->explanation;
  }
}

void Sender::settle_unchecked(NodeId node, std::string text) {
  run_.edit(node).unchecked = true;
  run_.edit(node).warnings.push_back(text);
  run_.tell(EventKind::warning, node, "unchecked", std::move(text));
  run_.edit(node).stored = ObjectState::Stored::created;
  run_.stored(node);
  run_.ready(node);
}

Task<void> Sender::unchecked(NodeId node, std::string text, bool may_exist) {
  co_await forecaster_.unchecked(node, text, may_exist);
  settle_unchecked(node, std::move(text));
}

Task<void> Sender::replace_unchecked(NodeId node, std::string text) {
  co_await forecaster_.replaced(node, text);
  settle_unchecked(node, std::move(text));
}

Task<Result<bool>> Sender::compare_instead(NodeId node, Attempt& attempt, RetryGate::Place& place,
                                           const Failure& failure) {
  kube::Outcome<kube::Reply> outcome = co_await forecaster_.apply(node, attempt.force);
  if (!outcome && !outcome.error().is(FaultKind::forbidden))
    co_return co_await answer_refusal(node, attempt, place, outcome.error());
  if (!outcome) {
    refuse(node, failure, std::nullopt);
    co_return true;
  }
  forecaster_.forbidden(node, *failure.fault());
  accept(node, *std::move(outcome));
  if (const auto& forecast = run_.state(node).forecast)
    forecast->unchecked = "this user may not send it, so Fairlead compared it without the API server";
  co_return true;
}

Task<Result<void>> Sender::foresee_conflict(NodeId node, const Fault& conflict) {
  CO_TRY(co_await take_turn().governed_by(&run_.halt().waits()));
  kube::Outcome<kube::Reply> forced = co_await apply(node, 0, true).governed_by(&run_.halt().requests());
  forecaster_.conflicting(node, conflict, forced ? forced->value : Json());
  co_return Result<void>();
}

}  // namespace fairlead::rollout
