#include "rollout/sending/sending.h"

#include <algorithm>

#include "base/plain_text.h"
#include "inventory/unchanged.h"
#include "object/containers.h"
#include "rollout/core/deadline.h"
#include "rollout/guards/causes.h"
#include "rollout/sending/as_sent.h"
#include "rollout/sending/hooks.h"
#include "rollout/sending/internal/conflict_rules.h"
#include "rollout/sending/internal/effect.h"
#include "rollout/sending/internal/generated_kinds.h"

namespace fairlead::rollout {
namespace {

using journal::EventKind;
using kube::Awaited;
using kube::Disposition;
using kube::Failure;
using kube::Fault;
using kube::FaultKind;

// Somewhat more than the client has in flight at once. More would only take memory, and would still be sent after the
// run was stopped.
constexpr size_t kUnderWay = 96;
// Every API server uses a changed CRD after this time.
constexpr Duration kSchemaSettles = std::chrono::seconds(15);
constexpr std::string_view kOnImmutable = "fairlead.dev/on-immutable";

}  // namespace

bool Sender::is_expected(NodeId node, const Fault& fault) const {
  if (!fault.wait.only_if_expected) return true;
  auto comes = [&](const object::Key& key) {
    std::optional<NodeId> other = run_.find(key);
    return other && run_.plan().state(*other) != Plan::State::failed &&
           run_.plan().state(*other) != Plan::State::blocked;
  };
  switch (fault.wait.what) {
    case Awaited::service:
    case Awaited::endpoints:
      return comes({.group = "", .kind = "Service", .ns = fault.wait.ns, .name = fault.wait.name});
    case Awaited::namespace_there: return comes(object::namespace_key(fault.wait.name));
    case Awaited::definition: {
      object::Key key = run_.definition_of(node);
      return comes(key) || run_.before(key);
    }
    case Awaited::parameters: return brings_parameters(fault.wait.name);
    case Awaited::service_account:
      return comes({.group = "", .kind = "ServiceAccount", .ns = fault.wait.ns, .name = fault.wait.name}) ||
             fault.wait.name == "default";
    default: return false;
  }
}

bool Sender::may_have_outdated_schema(NodeId node, const Fault& fault) const {
  if (fault.kind != FaultKind::schema && fault.kind != FaultKind::invalid) return false;
  std::optional<NodeId> definition = run_.find(run_.definition_of(node));
  if (!definition) return false;
  const ObjectState& state = run_.state(*definition);
  bool is_new = state.stored == ObjectState::Stored::created || state.stored == ObjectState::Stored::changed;
  return is_new && run_.loop().now() - state.stored_at < kSchemaSettles;
}

Sender::Then Sender::decide(const Json& answer) const {
  if (run_.options().dry_run) return Then::accept;
  // The object accepted the change, but is being deleted. Objects that need it have to wait for the next one.
  if (is_terminating(answer)) return Then::await_gone;
  return inventory::former_managers(answer, run_.successor()).empty() ? Then::accept : Then::apply_again;
}

// True if this run creates or changes parameters of the policy. Parameters that existed before do not count: the policy
// would have found them.
bool Sender::brings_parameters(std::string_view policy) const {
  for (const graph::Guard& guard : run_.graph().guards()) {
    bool is_policy =
        guard.kind == graph::Guard::Kind::validating_policy || guard.kind == graph::Guard::Kind::mutating_policy;
    if (!is_policy || guard.name != policy) continue;
    for (NodeId node : guard.backed_by) {
      Plan::State state = run_.plan().state(node);
      bool comes = state != Plan::State::failed && state != Plan::State::blocked;
      bool is_parameter = !run_.object(node).kind().ends_with("AdmissionPolicy");
      if (is_parameter && comes && run_.state(node).stored != ObjectState::Stored::unchanged) return true;
    }
  }
  return false;
}

Sender::Next Sender::decide(NodeId node, const Failure& failure) const {
  const Fault* fault = failure.fault();
  if (!fault) {
    // There was no answer. An apply can be repeated, whether it was carried out or not.
    ErrorKind kind = failure.error().kind();
    return kind == ErrorKind::unavailable || kind == ErrorKind::timeout ? Next::pause : Next::give_up;
  }
  if (fault->kind == FaultKind::field_conflict) return Next::resolve_conflict;
  if (fault->kind == FaultKind::immutable_field && run_.object(node).annotation(kOnImmutable) == "recreate")
    return Next::recreate;
  if (fault->kind == FaultKind::immutable_field && !made_anew_.contains(node) && may_be_made_anew(run_, node))
    return Next::make_anew;
  if (!run_.options().dry_run && may_have_outdated_schema(node, *fault)) return Next::pause;
  switch (fault->disposition) {
    case Disposition::passing: return Next::pause;
    case Disposition::parked: return is_expected(node, *fault) ? Next::park : Next::give_up;
    case Disposition::permanent: break;
  }
  return Next::give_up;
}

Task<Result<void>> Sender::take_turn() {
  size_t cap = run_.options().concurrency == 0 ? kUnderWay : run_.options().concurrency;
  while (in_flight_ >= cap)
    if (Result<void> woken = co_await freed_.wait(); !woken) co_return woken;
  ++in_flight_;
  co_return Result<void>();
}

Task<kube::Outcome<kube::Reply>> Sender::apply(NodeId node, uint64_t connection, bool force) {
  const object::Object& object = run_.object(node);
  kube::ApplyOptions options;
  options.field_manager = run_.field_manager();
  options.dry_run = run_.options().dry_run;
  options.force = force;
  options.connection = connection;
  kube::Outcome<kube::Reply> outcome;
  if (run_.options().compare_only) {
    outcome = co_await forecaster_.apply(node, force);
  } else {
    Json value = as_sent(object, run_.part_of());
    outcome = co_await client_.apply(*run_.kinds().of(object), object.ns(), object.name(), value, options);
  }
  --in_flight_;
  freed_.notify_one();
  co_return outcome;
}

Task<kube::Outcome<void>> Sender::take_over(NodeId node, uint64_t connection, const Json& answer) {
  const object::Object& object = run_.object(node);
  inventory::Successor successor = run_.successor();
  Json patch = inventory::takeover_patch(answer, successor);
  kube::WriteOptions options;
  options.field_manager = run_.field_manager();
  options.connection = connection;
  auto patched = co_await client_.patch(*run_.kinds().of(object), object.ns(), object.name(), kube::PatchType::json,
                                        patch, options);
  if (!patched && !patched.error().is(FaultKind::conflict) && !patched.error().is(FaultKind::not_found))
    co_return std::unexpected(patched.error());
  if (patched) tell_taken_over(node, inventory::former_managers(answer, successor));
  co_return kube::Outcome<void>();
}

// Objects that are moved from another bundle have a note of their own.
void Sender::tell_taken_over(NodeId node, const std::vector<std::string>& managers) {
  run_.edit(node).taken_over = true;
  std::string text;
  for (const std::string& manager : managers)
    if (!inventory::BundleName::of_manager(manager)) text += (text.empty() ? "" : ", ") + plain_text(manager, 128);
  if (text.empty()) return;
  std::string_view verb = run_.options().dry_run ? "would be" : "are";
  run_.tell(EventKind::note, node, "adopted", fmt::format("its fields {} taken over from {}", verb, text));
}

Task<Result<void>> Sender::park(NodeId node, const Fault& fault, RetryGate::Place& place) {
  ObjectState& state = run_.edit(node);
  bool is_new = !state.fault || state.fault->kind != fault.kind;
  state.fault = fault;
  state.waited_for = gate_for(fault);
  if (fault.webhook)
    if (auto guard = guards_.find_webhook(*fault.webhook)) {
      guards_.held_at(*guard);
      if (fault.kind == FaultKind::webhook_untrusted) guards_.distrusted(*guard);
      state.waited_for = run_.graph().guards()[*guard].text();
    }
  if (is_new) run_.tell(EventKind::parked, node, std::string(kube::name_of(fault.kind)), fault.explanation);
  return place.wait(gates_.at(gate_for(fault)));
}

Task<Result<void>> Sender::await_reach(NodeId node, RetryGate::Place& place, std::optional<Failure>& last) {
  std::optional<GuardId> guard = guards_.beyond_reach(node);
  if (!guard) co_return Result<void>();
  const graph::Guard& it = run_.graph().guards()[*guard];
  Fault fault = kube::no_endpoints({.name = it.name, .service = it.service->name, .ns = it.service->ns});
  last = Failure(fault);
  co_return co_await park(node, fault, place);
}

Task<Result<bool>> Sender::resolve_conflict(NodeId node, const Failure& failure, bool& force) {
  const object::Object& object = run_.object(node);
  Json live;
  if (run_.options().dry_run) (void)co_await forecaster_.live(node);
  for (Backoff pauses = kRetryPauses;;) {
    auto there = co_await client_.get(*run_.kinds().of(object), object.ns(), object.name());
    if (there) live = std::move(there->value);
    // The object was deleted meanwhile, so nobody owns its fields any more.
    else if (there.error().is(FaultKind::not_found)) co_return false;
    bool is_answered = there || (there.error().fault() && there.error().fault()->disposition == Disposition::permanent);
    if (is_answered) break;
    CO_TRY(co_await sleep_for(run_.loop(), pauses.next()));
  }
  Applier applier{
      .successor = run_.successor(), .force_conflicts = run_.options().force_conflicts, .adopt = run_.options().adopt};
  Ruling ruling = rule_on(*failure.fault(), live, applier);
  force = ruling == Ruling::take_over || ruling == Ruling::move_here;
  if (ruling == Ruling::take_over) {
    // Managers that give way by themselves are named when their fields are taken over.
    if (run_.options().force_conflicts)
      run_.tell(EventKind::note, node, "adopted", "its fields are taken over: " + failure.fault()->explanation);
  } else if (ruling == Ruling::refuse) {
    if (run_.options().dry_run) CO_TRY(co_await foresee_conflict(node, *failure.fault()));
    refuse(node, failure, std::nullopt);
  } else {
    inventory::Owner owner = co_await inventory::find_owner(client_, live);
    if (force) run_.tell(EventKind::note, node, "moved", "moved here from " + owner.text);
    else belongs_elsewhere(node, owner);
  }
  co_return !force;
}

Task<Result<bool>> Sender::recreate(NodeId node) {
  const object::Object& object = run_.object(node);
  const object::Resource& resource = *run_.kinds().of(object);
  run_.tell(EventKind::note, node, "recreate", "an immutable field differs: it is deleted and created again");
  for (Backoff pauses = kRetryPauses;;) {
    auto there = co_await client_.get(resource, object.ns(), object.name());
    if (!there && there.error().is(FaultKind::not_found)) co_return false;
    std::optional<Failure> failure;
    if (!there) failure = there.error();
    if (there) {
      std::string uid(there->value["metadata"]["uid"].string_or(""));
      auto removed =
          co_await client_
              .remove(resource, object.ns(), object.name(), {.uid = std::move(uid), .propagation = "Background"})
              .governed_by(&run_.halt().requests());
      // Somebody else deleted the object, or recreated it, and then it may not have to be deleted again.
      bool is_another =
          !removed && (removed.error().is(FaultKind::not_found) || removed.error().is(FaultKind::conflict));
      if (is_another) co_return false;
      if (removed) break;
      failure = removed.error();
    }
    if (failure->fault() && failure->fault()->disposition == Disposition::permanent) {
      refuse(node, *failure, std::nullopt);
      co_return true;
    }
    CO_TRY(co_await sleep_for(run_.loop(), pauses.next()));
  }
  CO_TRY(co_await await_gone(node));
  co_return false;
}

Task<Result<bool>> Sender::make_anew(NodeId node) {
  made_anew_.insert(node);
  auto former = co_await find_former(client_, run_, node);
  if (former && former->is_null()) co_return false;
  if (former && run_.options().dry_run) {
    co_await replace_unchecked(
        node, "Helm hook: the object of an earlier run would be deleted, and the hook would run again");
    co_return true;
  }
  kube::Outcome<void> deleted;
  if (former) deleted = co_await delete_former(client_, run_, node, *std::move(former));
  else deleted = std::unexpected(std::move(former).error());
  if (!deleted && deleted.error().error().kind() == ErrorKind::cancelled) co_return fail(deleted.error().error());
  if (!deleted) refuse(node, deleted.error(), std::nullopt);
  co_return !deleted;
}

Task<Result<void>> Sender::await_gone(NodeId node) {
  const object::Object& object = run_.object(node);
  for (Backoff pauses = kRetryPauses;;) {
    auto there = co_await client_.get(*run_.kinds().of(object), object.ns(), object.name());
    if (!there && there.error().is(FaultKind::not_found)) co_return Result<void>();
    if (there && !is_terminating(there->value)) co_return Result<void>();
    CO_TRY(co_await sleep_for(run_.loop(), pauses.next()));
  }
}

// The kinds of an API that comes with the bundle are known once its server answers. Kinds that a controller creates for
// a KindGenerator are known once it has created them.
Task<Result<void>> Sender::learn_kind(NodeId node, std::optional<Failure>& last) {
  const object::Object& object = run_.object(node);
  Backoff pauses = kRetryPauses;
  while (!run_.kinds().of(object)) {
    auto found = co_await discovery_.find_at_source(object.group(), object.version(), object.kind());
    if (found && *found) {
      run_.kinds().learn(**found);
      break;
    }
    Fault fault = kind_fault(run_, node);
    if (!last) run_.tell(EventKind::parked, node, std::string(kube::name_of(fault.kind)), fault.explanation);
    run_.edit(node).fault = fault;
    run_.edit(node).waited_for = fault.subject;
    last = Failure(std::move(fault));
    CO_TRY(co_await sleep_for(run_.loop(), pauses.next()));
  }
  last.reset();
  co_return Result<void>();
}

void Sender::accept(NodeId node, kube::Reply reply) {
  ObjectState& state = run_.edit(node);
  state.fault.reset();
  state.uid = reply.value["metadata"]["uid"].string_or("");
  state.version = version_number(reply.value);
  if (run_.options().dry_run)
    if (auto managers = inventory::former_managers(reply.value, run_.successor()); !managers.empty())
      tell_taken_over(node, managers);
  state.stored = effect_of(run_, node, reply);
  if (run_.options().dry_run) forecaster_.accepted(node, reply.value);
  for (std::string& warning : reply.warnings) {
    run_.tell(EventKind::warning, node, "server", warning);
    state.warnings.push_back(std::move(warning));
  }
  run_.tell(EventKind::stored, node, std::string(name_of(state.stored)), "");
  run_.stored(node);
  tracker_.follow(node, std::move(reply.value));
}

void Sender::belongs_elsewhere(NodeId node, const inventory::Owner& owner) {
  run_.edit(node).conflict = true;
  run_.failed(node, belongs_error(run_, node, owner));
}

void Sender::refuse(NodeId node, const Failure& failure, std::optional<Duration> within) {
  ObjectState& state = run_.edit(node);
  state.conflict = failure.is(FaultKind::field_conflict);
  state.timed_out = within.has_value();
  if (failure.fault()) state.fault = *failure.fault();
  for (const std::string& warning : failure.warnings()) state.warnings.push_back(warning);
  run_.failed(node, refused_error(run_, guards_, evidence_, node, failure, within));
}

Task<Result<bool>> Sender::make_sendable(NodeId node, RetryGate::Place& place, std::optional<Failure>& last) {
  if (run_.options().dry_run && !run_.kinds().of(run_.object(node))) {
    co_await unchecked(node, "it cannot be checked before its API is served", false);
    co_return true;
  }
  CO_TRY(co_await learn_kind(node, last));
  if (std::optional<Error> misplaced = run_.place(node)) {
    refuse(node, Failure(*std::move(misplaced)), std::nullopt);
    co_return true;
  }
  if (!run_.options().dry_run) CO_TRY(co_await await_reach(node, place, last));
  if (runs_anew(run_, node)) co_return co_await make_anew(node);
  co_return false;
}

Task<Result<void>> Sender::send_until_stored(NodeId node, RetryGate::Place& place, std::optional<Failure>& last) {
  CO_TRY_ASSIGN(bool is_settled, co_await make_sendable(node, place, last));
  Attempt attempt;
  while (!is_settled) {
    if (!claim_keeper_.is_recorded(node)) CO_TRY(co_await claim_keeper_.await_record(node, last));
    CO_TRY_ASSIGN(attempt.connection, co_await guards_.connection_for(node));
    CO_TRY(co_await precedence_.await(node));
    // The object's own time limit does not apply here: the object cannot help that there are many others, and requests
    // in flight end by themselves.
    CO_TRY(co_await take_turn().governed_by(&run_.halt().waits()));
    CO_TRY_ASSIGN(is_settled, co_await send_once(node, attempt, place, last));
  }
  co_return Result<void>();
}

Task<Result<bool>> Sender::send_once(NodeId node, Attempt& attempt, RetryGate::Place& place,
                                     std::optional<Failure>& last) {
  kube::Outcome<kube::Reply> outcome =
      co_await apply(node, attempt.connection, attempt.force).governed_by(&run_.halt().requests());
  precedence_.sent(node);
  run_.edit(node).unanswered =
      !outcome && !outcome.error().fault() && outcome.error().error().kind() == ErrorKind::cancelled;
  if (run_.state(node).unanswered) co_return fail(cancelled_error());
  if (outcome) {
    switch (decide(outcome->value)) {
      case Then::accept:
        place.passed();
        if (is_in_doubt(run_, node, *outcome)) (void)co_await forecaster_.live(node);
        accept(node, *std::move(outcome));
        co_return true;
      case Then::await_gone:
        run_.tell(EventKind::parked, node, "terminating", "an object of that name is still being deleted");
        CO_TRY(co_await await_gone(node));
        co_return false;
      case Then::apply_again: break;
    }
    auto taken = co_await take_over(node, attempt.connection, outcome->value).governed_by(&run_.halt().requests());
    if (taken) co_return false;
    outcome = std::unexpected(taken.error());
  }
  last = outcome.error();
  if (!last->fault() && attempt.connection != 0) guards_.lost(attempt.connection);
  co_return co_await answer_refusal(node, attempt, place, *last);
}

Task<Result<bool>> Sender::answer_refusal(NodeId node, Attempt& attempt, RetryGate::Place& place,
                                          const Failure& failure) {
  const Fault* fault = failure.fault();
  Next next = decide(node, failure);
  if (run_.options().dry_run && !run_.options().compare_only && failure.is(FaultKind::forbidden))
    co_return co_await compare_instead(node, attempt, place, failure);
  if (run_.options().dry_run && next == Next::recreate) {
    co_await replace_unchecked(node, "an immutable field differs: it would be deleted and created again");
    co_return true;
  }
  if (std::string why = reason_not_to_check(next, failure); !why.empty()) {
    bool may_exist = failure.fault()->webhook.has_value();
    co_await unchecked(node, std::move(why), may_exist);
    co_return true;
  }
  switch (next) {
    case Next::give_up:
      // A denial proves that the webhook works, so the other waiters may retry.
      if (failure.is(FaultKind::webhook_denied)) place.passed();
      refuse(node, failure, std::nullopt);
      co_return true;
    case Next::resolve_conflict: co_return co_await resolve_conflict(node, failure, attempt.force);
    case Next::recreate: co_return co_await recreate(node);
    case Next::make_anew: co_return co_await make_anew(node);
    case Next::park: CO_TRY(co_await park(node, *fault, place)); break;
    case Next::pause: {
      place.leave();
      tell_pause(node, failure);
      Duration pause = attempt.pauses.next();
      if (fault && fault->retry_after) pause = std::max(*fault->retry_after, pause);
      CO_TRY(co_await sleep_for(run_.loop(), pause));
      break;
    }
  }
  co_return false;
}

void Sender::tell_pause(NodeId node, const Failure& failure) {
  ObjectState& state = run_.edit(node);
  const Fault* fault = failure.fault();
  if (fault && may_have_outdated_schema(node, *fault)) {
    if (!state.fault || state.fault->kind != fault->kind)
      run_.tell(EventKind::parked, node, std::string(kube::name_of(fault->kind)),
                "its CRD changed in this run, and the API server may still use the old schema: " + fault->explanation);
  } else {
    run_.tell(EventKind::error, node, fault ? std::string(kube::name_of(fault->kind)) : "no answer",
              failure.error().message());
  }
  if (fault) state.fault = *fault;
}

bool Sender::is_still_unchanged(NodeId node) const {
  if (!run_.unchanged(node)) return false;
  return std::ranges::none_of(run_.containers_of(node), [&](const object::Key& key) {
    std::optional<NodeId> container = run_.find(key);
    return container && run_.state(*container).stored == ObjectState::Stored::created;
  });
}

Task<void> Sender::send(NodeId node) {
  run_.edit(node).started = run_.loop().now();
  if (is_still_unchanged(node)) {
    const Json* live = run_.unchanged(node);
    ObjectState& state = run_.edit(node);
    state.stored = ObjectState::Stored::unchanged;
    state.uid = (*live)["metadata"]["uid"].string_or("");
    state.version = version_number(*live);
    run_.tell(EventKind::stored, node, "unchanged", "");
    run_.stored(node);
    tracker_.follow(node, *live);
    co_return;
  }
  CancelSource time_limit(&run_.halt().waits());
  Deadline deadline(run_, run_.object(node).key(), workloads_before(run_, node), [&] { time_limit.cancel(); });
  RetryGate::Place place;
  std::optional<Failure> last;
  Result<void> result = co_await send_until_stored(node, place, last).governed_by(&time_limit);
  place.leave();
  if (!result && deadline.passed()) refuse(node, last ? *last : Failure(result.error()), deadline.waited());
  run_.changed().notify_all();
}

}  // namespace fairlead::rollout
