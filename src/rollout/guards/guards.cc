#include "rollout/guards/guards.h"

#include <algorithm>

#include "base/timestamp.h"
#include "rollout/core/deadline.h"
#include "rollout/guards/causes.h"
#include "rollout/guards/root_causes.h"

namespace fairlead::rollout {

using graph::Guard;
using journal::EventKind;
using readiness::Proof;
using readiness::Rung;

namespace {

// A configuration that was written this recently may not be in effect yet, whoever wrote it, such as an earlier run
// that was killed.
constexpr Duration kRecent = std::chrono::minutes(2);

bool is_policy(const Guard& guard) {
  return guard.kind == Guard::Kind::validating_policy || guard.kind == Guard::Kind::mutating_policy;
}

readiness::GuardKind kind_of(const Guard& guard) {
  switch (guard.kind) {
    case Guard::Kind::mutating_webhook: return readiness::GuardKind::mutating_webhooks;
    case Guard::Kind::validating_policy: return readiness::GuardKind::validating_policies;
    case Guard::Kind::mutating_policy: return readiness::GuardKind::mutating_policies;
    default: return readiness::GuardKind::validating_webhooks;
  }
}

bool is_recent(const Json& object, WallTime now) {
  auto is_new = [&](const Json& time) {
    std::optional<WallTime> at = parse_timestamp(time.string_or(""));
    return at && now - *at < kRecent;
  };
  const Json& metadata = object["metadata"];
  if (is_new(metadata["creationTimestamp"])) return true;
  return std::ranges::any_of(metadata["managedFields"].items(),
                             [&](const Json& entry) { return is_new(entry["time"]); });
}

}  // namespace

bool is_webhook(const Guard& guard) {
  return guard.kind == Guard::Kind::validating_webhook || guard.kind == Guard::Kind::mutating_webhook;
}

Guards::Guards(Run& run, readiness::Prover& prover, Evidence& evidence, RetryGates& gates)
    : run_(run),
      prover_(prover),
      evidence_(evidence),
      gates_(gates),
      proved_(run.loop()),
      states_(run.graph().guards().size()) {}

std::string Guards::gate_name(const Guard& guard) const {
  return is_webhook(guard) ? gate_of_webhook(guard.name) : guard.text();
}

Guards::Origin Guards::origin_of(const Guard& guard) const {
  auto of_object = [&](NodeId node) {
    if (run_.state(node).stored == ObjectState::Stored::created) return Origin::created;
    if (run_.state(node).stored == ObjectState::Stored::changed) return Origin::updated;
    const Json* live = run_.before(node);
    return live && is_recent(*live, run_.server_now()) ? Origin::updated : Origin::before;
  };
  Origin origin = guard.object ? of_object(*guard.object) : Origin::before;
  if (is_policy(guard))
    for (NodeId node : guard.backed_by)
      if (origin == Origin::before) origin = of_object(node);
  return origin;
}

bool Guards::guards_something_to_send(GuardId guard) const {
  for (NodeId node : run_.objects()) {
    if (run_.unchanged(node) || run_.graph().is_left_out(node)) continue;
    for (const graph::GuardMatch& match : run_.graph().guards_of(node))
      if (match.guard == guard) return true;
  }
  return false;
}

bool Guards::waits_for_answer(const Guard& guard) const {
  switch (run_.options().ignore_policy) {
    case IgnorePolicy::wait: return true;
    case IgnorePolicy::warn: return false;
    case IgnorePolicy::standard: break;
  }
  return guard.object.has_value();
}

const Json* Guards::live_configuration(const Guard& guard) const {
  return evidence_.find(guard.configuration.kind, "", guard.configuration.name);
}

// The API server increments the generation with every relevant change, and begins with 1.
bool Guards::changed_since_created(const Guard& guard) const {
  const Json* live = live_configuration(guard);
  return live && (*live)["metadata"]["generation"].int_or(1) > 1;
}

// Returns what the API server uses: the webhook, or the CRD's conversion. Markers of ours beside the webhook do not
// count.
Json Guards::live_form(const Guard& guard) const {
  const Json* live = live_configuration(guard);
  if (!live) return {};
  if (guard.kind == Guard::Kind::conversion) return (*live)["spec"]["conversion"];
  for (const Json& hook : (*live)["webhooks"].items())
    if (hook["name"].string_or("") == guard.name) return hook;
  return {};
}

std::optional<readiness::Target> Guards::target_of(const Guard& guard) const {
  if (guard.kind == Guard::Kind::conversion) {
    const Json* live = live_configuration(guard);
    if (!live && guard.object) live = &run_.object(*guard.object).value();
    return live ? readiness::conversion_target_of(*live) : std::nullopt;
  }
  if (const Json* live = live_configuration(guard))
    for (const admission::Webhook& hook : admission::read_webhooks(*live))
      if (hook.name == guard.name) return readiness::target_of(hook);
  return guard.webhook ? std::optional(readiness::target_of(*guard.webhook)) : std::nullopt;
}

void Guards::held_at(GuardId guard) {
  const Guard& it = run_.graph().guards()[guard];
  if (it.service) {
    evidence_.watch_endpoints(it.service->ns);
    evidence_.watch_pods(it.service->ns);
  }
  if (is_webhook(it)) evidence_.watch_cluster_wide(it.configuration.group, it.configuration.kind);
  if (it.kind == Guard::Kind::conversion)
    evidence_.watch_cluster_wide("apiextensions.k8s.io", "CustomResourceDefinition");
}

void Guards::evidence_changed(std::string_view kind, const std::string& ns, const std::string& name) {
  for (GuardId i : run_.graph().guards().ids()) {
    const Guard& guard = run_.graph().guards()[i];
    bool is_its_service = guard.service && kind == "EndpointSlice" &&
                          (name.empty() || (guard.service->ns == ns && guard.service->name == name));
    bool is_its_configuration = kind == guard.configuration.kind && name == guard.configuration.name;
    if (!is_its_service && !is_its_configuration) continue;
    // An endpoint that becomes ready again may not listen yet, although it has the same address.
    if (auto& answering = states_[i].answering; is_its_service && answering)
      std::erase_if(*answering, [ready = ready_addresses(guard)](const auto& one) { return !ready.contains(one); });
    bool likely = true;
    if (guard.service)
      if (auto count = evidence_.endpoints(guard.service->ns, guard.service->name)) likely = count->ready > 0;
    gates_.at(gate_name(guard)).evidence_changed(likely);
    if (guard.service) gates_.at(gate_of_service(guard.service->ns, guard.service->name)).evidence_changed(likely);
  }
}

std::optional<GuardId> Guards::find_webhook(const kube::FaultWebhook& webhook) const {
  return find_guard(run_, webhook);
}

void Guards::take(GuardId guard, const Proof& proof) {
  Standing& standing = states_[guard].standing;
  auto kind_of_fault = [](const std::optional<kube::Fault>& fault) {
    return fault ? std::optional(fault->kind) : std::nullopt;
  };
  bool moved = standing.rung != proof.rung || kind_of_fault(standing.fault) != kind_of_fault(proof.fault);
  standing.rung = proof.rung;
  standing.evidence = proof.evidence;
  standing.fault = proof.fault;
  standing.proved = proof.proved;
  if (!moved) return;
  standing.since = run_.loop().now();
  std::string text = proof.fault ? proof.fault->explanation : proof.evidence;
  run_.tell(EventKind::guard, run_.graph().node_of_guard(guard), std::string(readiness::name_of(proof.rung)),
            std::move(text));
}

Task<kube::Outcome<Proof>> Guards::ask(GuardId guard) {
  const Guard& it = run_.graph().guards()[guard];
  bool by_marker_inside = is_webhook(it) && states_[guard].origin == Origin::updated;
  return by_marker_inside ? prover_.updated_in_effect(it.configuration, line_)
                          : prover_.created_in_effect(kind_of(it), line_);
}

Task<kube::Outcome<Proof>> Guards::share(const std::string& what, GuardId guard) {
  Shared& shared = shared_[what];
  uint64_t wanted = ++shared.asked;
  while (shared.covered < wanted) {
    if (shared.running) {
      if (Result<void> woken = co_await proved_.wait(); !woken) co_return std::unexpected(kube::Failure(woken.error()));
      continue;
    }
    shared.running = true;
    uint64_t covers = shared.asked;
    kube::Outcome<Proof> proof = co_await ask(guard);
    shared.running = false;
    proved_.notify_all();
    // Only this task was cancelled; the others still want the proof.
    if (!proof && proof.error().error().kind() == ErrorKind::cancelled) co_return proof;
    shared.last = std::move(proof);
    shared.covered = covers;
  }
  co_return shared.last;
}

void Guards::give_up_proof(GuardId guard, const std::string& why) {
  State& state = states_[guard];
  if (state.unprovable) return;
  state.unprovable = true;
  state.standing.proved = false;
  run_.note(EventKind::warning,
            fmt::format("could not prove that {} is in effect: {}", run_.graph().guards()[guard].text(), why));
}

Task<Result<void>> Guards::prove_effect(GuardId guard) {
  State& state = states_[guard];
  const Guard& it = run_.graph().guards()[guard];
  TimePoint began = run_.loop().now();
  while (state.origin != Origin::before && !state.unprovable &&
         (state.proved_over == 0 || state.proved_over != line_)) {
    // Usually an injector changed it. An API server may still use the form in which it was created.
    if (is_webhook(it) && state.origin == Origin::created && changed_since_created(it)) state.origin = Origin::updated;
    Json form = live_form(it);
    bool inside = is_webhook(it) && state.origin == Origin::updated;
    std::string what = inside ? it.configuration.text() : std::string(readiness::name_of(kind_of(it)));
    kube::Outcome<Proof> proof = co_await share(what, guard);
    if (proof && proof->reached(Rung::in_effect)) {
      if (line_ == 0) line_ = proof->connection;
      state.proved_over = proof->connection;
      state.form = std::move(form);
      if (state.standing.rung < Rung::in_effect) take(guard, *proof);
      continue;
    }
    if (proof && (proof->hopeless || run_.loop().now() - began >= kProofTime)) {
      give_up_proof(guard, proof->why_not);
      continue;
    }
    if (!proof && proof.error().error().kind() == ErrorKind::cancelled) co_return fail(proof.error().error());
    if (!proof) lost(line_);
    CO_TRY(co_await sleep_for(run_.loop(), kBetweenTries));
  }
  co_return Result<void>();
}

void Guards::lost(uint64_t connection) {
  if (connection == line_) line_ = 0;
}

void Guards::distrusted(GuardId guard) {
  const Guard& it = run_.graph().guards()[guard];
  State& state = states_[guard];
  Json form = live_form(it);
  if (!is_webhook(it) || state.origin == Origin::before || form.is_null() || form == state.form) return;
  state.origin = Origin::updated;
  state.proved_over = 0;
}

std::optional<GuardId> Guards::beyond_reach(NodeId node) {
  for (const graph::GuardMatch& match : run_.graph().guards_of(node)) {
    bool has_to_answer = !match.by_pods && !run_.graph().guards()[match.guard].ignore;
    if (has_to_answer && is_beyond_reach(match.guard)) return match.guard;
  }
  return std::nullopt;
}

Task<Result<uint64_t>> Guards::connection_for(NodeId node) {
  // A proof writes to the cluster, and a dry run must not.
  if (run_.options().dry_run) co_return 0;
  bool any_origin = false;
  for (const graph::GuardMatch& match : run_.graph().guards_of(node)) {
    if (!still_answers(match.guard)) CO_TRY(co_await await_answer_again(match.guard));
    if (match.by_pods || states_[match.guard].origin == Origin::before) continue;
    any_origin = true;
    CO_TRY(co_await prove_effect(match.guard));
  }
  co_return any_origin ? line_ : 0;
}

Task<Result<void>> Guards::climb_webhook(GuardId guard) {
  const Guard& it = run_.graph().guards()[guard];
  if (it.ignore && states_[guard].origin != Origin::before) held_at(guard);
  CO_TRY(co_await prove_effect(guard));
  if (!it.ignore) co_return Result<void>();
  if (waits_for_answer(it)) co_return co_await await_answer(guard);
  CO_TRY_ASSIGN(Proof proof, co_await mirror(guard));
  if (!proof.reached(Rung::answering)) warn_of_skipping(guard, proof);
  co_return Result<void>();
}

Task<Result<void>> Guards::await_api_service(NodeId object) {
  while (!run_.plan().is_settled(object)) CO_TRY(co_await run_.changed().wait());
  co_return Result<void>();
}

void Guards::tell_unchecked(GuardId guard) {
  const Guard& it = run_.graph().guards()[guard];
  bool decides = is_webhook(it) || is_policy(it);
  if (!decides || states_[guard].origin == Origin::before) return;
  size_t guarded = 0;
  for (NodeId node : run_.objects())
    for (const graph::GuardMatch& match : run_.graph().guards_of(node))
      if (match.guard == guard && !match.by_pods && !run_.unchanged(node)) ++guarded;
  if (guarded == 0) return;
  run_.note(EventKind::warning,
            fmt::format("not checked: whether {}, which this bundle creates or changes, admits the {} that it guards",
                        it.text(), guarded == 1 ? "object" : fmt::format("{} objects", guarded)));
}

Task<Result<void>> Guards::climb_ladder(GuardId guard) {
  const Guard& it = run_.graph().guards()[guard];
  State& state = states_[guard];
  state.origin = origin_of(it);
  state.standing.since = run_.loop().now();
  state.standing.rung = state.origin == Origin::before ? Rung::in_effect : Rung::registered;
  if (!guards_something_to_send(guard)) co_return Result<void>();
  if (run_.options().dry_run) {
    tell_unchecked(guard);
    co_return Result<void>();
  }
  if (is_webhook(it)) co_return co_await climb_webhook(guard);
  if (is_policy(it)) co_return co_await prove_effect(guard);
  if (it.kind == Guard::Kind::api_service && it.object) co_return co_await await_api_service(*it.object);
  // A write in the stored version needs no conversion. But while nobody answers, it would break every LIST in other
  // versions.
  bool converts = it.kind == Guard::Kind::conversion && state.origin != Origin::before;
  if (converts) co_return co_await await_answer(guard);
  co_return Result<void>();
}

Task<void> Guards::climb(GuardId guard) {
  NodeId node = run_.graph().node_of_guard(guard);
  CancelSource time_limit(&run_.halt().waits());
  const Guard& it = run_.graph().guards()[guard];
  Deadline deadline(run_, it.configuration, it.backed_by, [&] { time_limit.cancel(); });
  Result<void> result = co_await climb_ladder(guard).governed_by(&time_limit);
  if (result) {
    run_.ready(node);
  } else if (deadline.passed() || result.error().kind() != ErrorKind::cancelled) {
    run_.failed(node, guard_error(run_, *this, evidence_, guard,
                                  deadline.passed() ? std::optional(deadline.waited()) : std::nullopt));
  }
}

}  // namespace fairlead::rollout
