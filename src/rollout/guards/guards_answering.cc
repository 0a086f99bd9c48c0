// Proves the upper rungs: whether all endpoints behind a guard answer, and still do.
#include <algorithm>

#include "rollout/guards/guards.h"

namespace fairlead::rollout {

using graph::Guard;
using journal::EventKind;
using readiness::Proof;
using readiness::Rung;

Task<Result<Proof>> Guards::mirror(GuardId guard) {
  while (true) {
    std::optional<readiness::Target> target = target_of(run_.graph().guards()[guard]);
    if (!target) co_return fail(ErrorKind::internal, "nobody to ask");
    kube::Outcome<Proof> proof = co_await prover_.mirror(*std::move(target), line_);
    if (proof) {
      if (line_ == 0 && proof->proved) line_ = proof->connection;
      take(guard, *proof);
      co_return *std::move(proof);
    }
    if (proof.error().error().kind() == ErrorKind::cancelled) co_return fail(proof.error().error());
    lost(line_);
    CO_TRY(co_await sleep_for(run_.loop(), kBetweenTries));
  }
}

bool Guards::is_beyond_reach(GuardId guard) {
  const Guard& it = run_.graph().guards()[guard];
  bool is_called = is_webhook(it) || it.kind == Guard::Kind::conversion;
  if (!is_called || !it.service) return false;
  auto service = run_.find({.group = "", .kind = "Service", .ns = it.service->ns, .name = it.service->name});
  if (!service || run_.state(*service).stored != ObjectState::Stored::created) return false;
  evidence_.watch_endpoints(it.service->ns);
  if (!evidence_.learns("EndpointSlice", it.service->ns)) return false;
  auto count = evidence_.endpoints(it.service->ns, it.service->name);
  return !count || count->ready == 0;
}

RetryGate& Guards::gate_before(GuardId guard) {
  const admission::ServiceReference& service = *run_.graph().guards()[guard].service;
  return gates_.at(gate_of_service(service.ns, service.name));
}

std::string Guards::port_name(const Guard& guard) const {
  if (const Json* service = run_.service(guard.service->ns, guard.service->name))
    for (const Json& port : (*service)["spec"]["ports"].items())
      if (port["port"].int_or(0) == guard.service->port) return std::string(port["name"].string_or(""));
  return {};
}

std::set<std::string> Guards::ready_addresses(const Guard& guard) const {
  std::set<std::string> addresses;
  if (!guard.service) return addresses;
  for (const readiness::Endpoint& one :
       evidence_.ready_endpoints(guard.service->ns, guard.service->name, port_name(guard)))
    addresses.insert(fmt::format("{} {}", one.address, one.port));
  return addresses;
}

bool Guards::still_answers(GuardId guard) const {
  const Guard& it = run_.graph().guards()[guard];
  const std::optional<std::set<std::string>>& answering = states_[guard].answering;
  if (!answering || !it.service || !evidence_.endpoints(it.service->ns, it.service->name)) return true;
  std::set<std::string> ready = ready_addresses(it);
  return ready.empty() ? !states_[guard].has_endpoints : std::ranges::includes(*answering, ready);
}

// One task asks on behalf of all objects that wait.
Task<Result<void>> Guards::await_answer_again(GuardId guard) {
  State& state = states_[guard];
  while (!still_answers(guard)) {
    if (state.asking) {
      CO_TRY(co_await proved_.wait());
      continue;
    }
    state.asking = true;
    Result<void> answered = co_await await_answer(guard);
    state.asking = false;
    proved_.notify_all();
    CO_TRY(answered);
  }
  co_return Result<void>();
}

// A Service sends each call to one of its endpoints, so the answer of one says nothing about the others.
Task<Result<bool>> Guards::every_endpoint_listens(GuardId guard, const std::set<std::string>& before) {
  const Guard& it = run_.graph().guards()[guard];
  if (!it.service) co_return true;
  auto endpoints = evidence_.ready_endpoints(it.service->ns, it.service->name, port_name(it));
  std::optional<readiness::Target> target = target_of(it);
  bool was_that_one = endpoints.size() < 2 && ready_addresses(it) == before;
  if (endpoints.empty() || was_that_one || !target) co_return true;
  kube::Outcome<Proof> proof = co_await prover_.mirror_endpoints(*std::move(target), std::move(endpoints), line_);
  if (!proof && proof.error().error().kind() == ErrorKind::cancelled) co_return fail(proof.error().error());
  if (proof && proof->fault && proof->proved) take(guard, *proof);
  if (!proof || proof->proved) {
    states_[guard].silent_rounds = 0;
    co_return proof && proof->reached(Rung::reachable);
  }
  if (!proof->hopeless && ++states_[guard].silent_rounds < kSilentRounds) co_return false;
  run_.note(EventKind::warning,
            fmt::format("could not prove that every endpoint of {} answers: {}", it.text(), proof->why_not));
  co_return true;
}

Task<Result<void>> Guards::await_answer(GuardId guard) {
  const Guard& it = run_.graph().guards()[guard];
  State& state = states_[guard];
  RetryGate::Place place;
  held_at(guard);
  if (is_beyond_reach(guard)) CO_TRY(co_await place.wait(gate_before(guard)));
  std::optional<TimePoint> unproved_since;
  while (true) {
    std::set<std::string> before = ready_addresses(it);
    CO_TRY_ASSIGN(Proof proof, co_await mirror(guard));
    if (proof.proved) unproved_since.reset();
    else if (!unproved_since) unproved_since = run_.loop().now();
    bool in_vain = unproved_since && run_.loop().now() - *unproved_since >= kProofTime;
    if (!proof.proved && (proof.hopeless || in_vain)) {
      // No proof is possible. What remains is what the cluster shows: whether an endpoint is ready.
      auto count = it.service ? evidence_.endpoints(it.service->ns, it.service->name) : std::nullopt;
      if (!count || count->ready > 0) {
        run_.note(EventKind::warning, fmt::format("could not prove that {} answers: {}", it.text(), proof.why_not));
        state.answering.reset();
        break;
      }
    } else if (proof.reached(Rung::answering)) {
      std::set<std::string> asked = ready_addresses(it);
      CO_TRY_ASSIGN(bool all, co_await every_endpoint_listens(guard, before));
      bool as_created = is_webhook(it) && state.origin == Origin::created;
      // A proof that was given up is not tried again.
      bool same = state.origin == Origin::before || state.unprovable || !live_configuration(it) ||
                  (as_created ? !changed_since_created(it) : state.form == live_form(it));
      if (all) {
        state.has_endpoints = !asked.empty();
        state.answering = std::move(asked);
      }
      if (all && same) break;
      if (all) {
        // Somebody, usually an injector, has changed it since. An API server may still use the form before.
        if (is_webhook(it)) state.origin = Origin::updated;
        state.proved_over = 0;
        CO_TRY(co_await prove_effect(guard));
        continue;
      }
    }
    bool is_unreachable = proof.fault && is_about_service(*proof.fault);
    CO_TRY(co_await place.wait(gates_.at(is_unreachable ? gate_for(*proof.fault) : gate_name(it))));
  }
  place.passed();
  co_return Result<void>();
}

void Guards::warn_of_skipping(GuardId guard, const Proof& proof) {
  const Guard& it = run_.graph().guards()[guard];
  std::string why = proof.fault ? proof.fault->explanation : proof.why_not;
  for (NodeId node : run_.objects())
    for (const graph::GuardMatch& match : run_.graph().guards_of(node)) {
      if (match.guard != guard || match.by_pods || run_.unchanged(node)) continue;
      std::string text = fmt::format("{} does not answer and has failurePolicy Ignore, so the API server skips it: {}",
                                     it.text(), why);
      run_.edit(node).warnings.push_back(text);
      run_.tell(EventKind::warning, node, "skipped", std::move(text));
    }
}

}  // namespace fairlead::rollout
