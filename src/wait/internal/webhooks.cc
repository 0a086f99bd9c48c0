#include "wait/internal/webhooks.h"

#include <algorithm>

#include "admission/prospect.h"
#include "base/backoff.h"
#include "readiness/review.h"

namespace fairlead::wait {

using journal::EventKind;
using readiness::Proof;
using readiness::Rung;

namespace {

// A pod can be ready before it listens, and nothing that could be watched tells when it does.
constexpr Backoff kPauses(std::chrono::milliseconds(50), std::chrono::milliseconds(500));
// What the watches show may be incomplete, so a call that should fail is looked at again from time to time.
constexpr Duration kBlockedPause = std::chrono::seconds(10);
// The time of the only attempt if there is no time to wait.
constexpr Duration kOneAttempt = std::chrono::seconds(10);
// After so many rounds in a row that proved nothing about single endpoints, the Service's answer is enough.
constexpr int kSilentRounds = 3;

Proof unproved(const kube::Failure& failure) {
  Proof proof;
  proof.rung = Rung::registered;
  proof.why_not = failure.error().message();
  return proof;
}

Proof proof_of(kube::Outcome<Proof> outcome) { return outcome ? *std::move(outcome) : unproved(outcome.error()); }

// The proof that can never be had, if there is one.
const Proof* hopeless(const Findings& findings) {
  for (const std::optional<Proof>* proof : {&findings.call, &findings.effect, &findings.review})
    if (*proof && !(*proof)->proved && (*proof)->hopeless) return &**proof;
  return nullptr;
}

Error hopeless_error(const Callee& callee, const Proof& proof) {
  Error error(ErrorKind::denied, fmt::format("{} cannot be proved to work", callee.text()));
  error = std::move(error).because(proof.why_not);
  return proof.fault && !proof.fault->advice.empty() ? std::move(error).next(proof.fault->advice) : error;
}

bool is_answered(const Findings& findings) { return findings.call && findings.call->reached(Rung::answering); }

std::string versions_of(const std::vector<Callee>& callees) {
  std::string text;
  for (const Callee& callee : callees) text += callee.version + "\n" + callee.name + "\n";
  return text;
}

}  // namespace

std::string Webhooks::port_name(const admission::ServiceReference& service) const {
  auto watched = services_.find(service.ns);
  if (watched == services_.end()) return {};
  if (const Json* found = watched->second->find(service.ns, service.name))
    for (const Json& port : (*found)["spec"]["ports"].items())
      if (port["port"].int_or(0) == service.port) return std::string(port["name"].string_or(""));
  return {};
}

// Returns null if the cluster does not tell how it serves Services.
const kube::Watched* Webhooks::watch_services(const std::string& ns) {
  auto found = services_.find(ns);
  if (found != services_.end()) return found->second.get();
  const object::Resource* resource = run_.discovery.known().find("", "Service");
  if (!resource) return nullptr;
  auto& watched = services_[ns];
  watched = std::make_unique<kube::Watched>(run_.client, *resource, kube::WatchOptions{.ns = ns},
                                            [this](const Json&, bool) { notify(); });
  scope_.spawn(watched->run());
  return watched.get();
}

Task<Result<void>> Webhooks::await_evidence(const admission::ServiceReference& service) {
  const kube::Watched* services = watch_services(service.ns);
  evidence_.watch_endpoints(service.ns);
  evidence_.watch_pods(service.ns);
  auto is_pending = [&](std::string_view kind) {
    return evidence_.learns(kind, service.ns) && !evidence_.knows(kind, service.ns);
  };
  auto is_begun = [&] { return services && !services->synced() && !services->trouble(); };
  while (is_begun() || is_pending("EndpointSlice") || is_pending("Pod")) CO_TRY(co_await changed_.wait());
  co_return Result<void>();
}

void Webhooks::look_at_backend(const Callee& callee, Findings& findings) const {
  if (!callee.service) return;
  const admission::ServiceReference& service = *callee.service;
  auto watched = services_.find(service.ns);
  bool is_known = watched != services_.end() && watched->second->synced() && !watched->second->trouble();
  const Json* found = is_known ? watched->second->find(service.ns, service.name) : nullptr;
  if (is_known) findings.service = found ? *found : Json();
  findings.endpoints = evidence_.endpoints(service.ns, service.name);
  if (found && findings.endpoints && findings.endpoints->ready == 0)
    findings.why = readiness::why_no_endpoints(*found, evidence_.slices(service.ns), evidence_.pods(service.ns));
}

// A Service sends each call to one of its endpoints, so the answer of one says nothing about the others.
Task<void> Webhooks::call_each(const Callee& callee, Findings& findings) {
  if (!callee.service) co_return;
  const admission::ServiceReference& service = *callee.service;
  auto endpoints = evidence_.ready_endpoints(service.ns, service.name, port_name(service));
  if (endpoints.size() < 2) co_return;
  Proof proof = proof_of(co_await prover_.mirror_endpoints(callee.target, std::move(endpoints), 0));
  int& silent = silent_[callee.text()];
  silent = proof.proved ? 0 : silent + 1;
  bool is_enough = !proof.proved && (proof.hopeless || silent >= kSilentRounds);
  if (is_enough)
    run_.journal.add({.kind = EventKind::warning,
                      .text = fmt::format("{} answers, but not each of its endpoints is proved to: {}", callee.text(),
                                          proof.why_not)});
  else findings.each = std::move(proof);
}

Task<void> Webhooks::call(const Callee& callee, Attempt& attempt) {
  Findings& findings = attempt.findings;
  findings.wants_review = callee.hook && run_.options.probe;
  if (callee.service && !co_await await_evidence(*callee.service)) co_return;
  look_at_backend(callee, findings);
  attempt.is_blocked = must_fail(layers_of(callee, findings));
  if (attempt.is_blocked) co_return;
  findings.call = proof_of(co_await prover_.mirror(callee.target, 0));
  if (is_answered(findings)) co_await call_each(callee, findings);
}

Task<void> Webhooks::prove_effect(const Callee& callee, Findings& findings) {
  if (!callee.kind) co_return;
  auto known = effects_.find(callee.version);
  if (known != effects_.end()) {
    findings.effect = known->second;
    co_return;
  }
  findings.effect = proof_of(co_await (callee.is_fresh_change ? prover_.updated_in_effect(callee.configuration, 0)
                                                              : prover_.created_in_effect(*callee.kind, 0)));
  if (findings.effect->reached(Rung::in_effect)) effects_[callee.version] = *findings.effect;
}

Task<std::optional<Json>> Webhooks::labels_of_namespace(std::string name) {
  const object::Resource* resource = run_.discovery.known().find("", "Namespace");
  if (!resource || name.empty()) co_return std::nullopt;
  kube::Outcome<kube::Reply> reply = co_await run_.client.get(*resource, "", name);
  if (!reply) co_return std::nullopt;
  const Json& labels = reply->value["metadata"]["labels"];
  co_return labels.is_object() ? labels : Json(Json::Object());
}

Task<Result<void>> Webhooks::review(const std::vector<Callee>& callees, std::vector<Attempt>& attempts) {
  if (!run_.options.probe) co_return Result<void>();
  const object::Object& object = *run_.options.probe;
  auto found = co_await run_.discovery.find(object.group(), object.version(), object.kind());
  if (!found || !*found) co_return Result<void>();
  const object::Resource& resource = **found;
  std::string ns = !resource.namespaced ? "" : object.ns().empty() ? run_.options.default_namespace : object.ns();
  admission::Prospect prospect{.resource = {resource.group, resource.version, resource.plural},
                               .kind = {resource.group, resource.version, resource.kind},
                               .ns = resource.kind == "Namespace" ? object.name() : ns,
                               .object = object.value(),
                               .ns_labels = co_await labels_of_namespace(ns),
                               .equivalents = {},
                               .may_update = false};
  for (const object::Resource& other : run_.discovery.known().resources())
    if (other.group == resource.group && other.kind == resource.kind && other.version != resource.version)
      prospect.equivalents.push_back(
          {.resource = {other.group, other.version, other.plural}, .kind = {other.group, other.version, other.kind}});
  bool is_asked = false;
  for (size_t i = 0; i < callees.size(); ++i) {
    if (!callees[i].hook) continue;
    Findings& findings = attempts[i].findings;
    findings.ignores_object = could_match(*callees[i].hook, prospect) == admission::Certainty::never;
    is_asked = is_asked || !findings.ignores_object;
    if (findings.ignores_object || !is_answered(findings)) continue;
    readiness::Prover::Options options{
        .run = run_.options.run, .known_dead = {}, .namespaces = {run_.options.default_namespace}};
    findings.review = proof_of(
        co_await readiness::review(run_.client, std::move(options), callees[i].target, {resource, ns, object.value()}));
  }
  if (is_asked) co_return Result<void>();
  co_return fail(
      Error(ErrorKind::invalid, fmt::format("{} is not asked about {}", callees.front().text(), object.key().text()))
          .because("its rules and selectors do not match the object of --probe-with")
          .at(object.source().text())
          .next(fmt::format("kubectl get {} {} -o yaml", callees.front().configuration.kind,
                            callees.front().configuration.name)));
}

void Webhooks::tell_rung(const Callee& callee, const Findings& findings) {
  Rung rung = rung_of(findings);
  auto [told, is_new] = told_.try_emplace(callee.text(), Rung::nothing);
  if (!findings.call || told->second == rung) return;
  told->second = rung;
  const Proof& call = *findings.call;
  run_.journal.add({.kind = EventKind::guard,
                    .state = std::string(readiness::name_of(rung)),
                    .text = call.fault    ? call.fault->explanation
                            : call.proved ? call.evidence
                                          : call.why_not,
                    .details = Json::Object{{"guard", callee.text()}}});
}

void Webhooks::record(Subject& subject, const std::vector<Callee>& callees, const std::vector<Attempt>& attempts) {
  subject.webhooks.clear();
  for (size_t i = 0; i < callees.size(); ++i) {
    const Findings& findings = attempts[i].findings;
    tell_rung(callees[i], findings);
    WebhookEnding ending{.name = callees[i].name,
                         .configuration = callees[i].configuration,
                         .rung = rung_of(findings),
                         .layers = attempts[i].layers,
                         .evidence = {}};
    for (const std::optional<Proof>* proof : {&findings.effect, &findings.call, &findings.each, &findings.review})
      if (*proof && !(*proof)->evidence.empty()) ending.evidence.push_back((*proof)->evidence);
    subject.webhooks.push_back(std::move(ending));
  }
}

// The first webhook that does not work stands for all.
void Webhooks::tell(Subject& subject, const std::vector<Callee>& callees, const std::vector<Attempt>& attempts) {
  for (size_t i = 0; i < callees.size(); ++i) {
    const Layer* open = first_open(attempts[i].layers);
    if (!open) continue;
    bool is_alone = callees.size() == 1;
    subject.why = open->name == "endpoints" || open->name == "pods" ? attempts[i].findings.why : readiness::Why();
    if (!subject.why.causes.empty() && subject.why.causes.front() == open->text && is_alone)
      subject.why.causes.erase(subject.why.causes.begin());
    subject.next = open->next;
    run_.tell(subject, is_alone ? open->text : fmt::format("{}: {}", callees[i].text(), open->text));
    return;
  }
}

// Returns `blocked` if no call was made that could have succeeded.
Task<Result<Webhooks::Outcome>> Webhooks::try_all(Subject& subject, const std::vector<Callee>& callees) {
  std::vector<Attempt> attempts(callees.size());
  Scope scope(run_.loop, co_await current_cancel());
  for (size_t i = 0; i < callees.size(); ++i) scope.spawn(call(callees[i], attempts[i]));
  co_await scope.join();
  // What an attempt does not learn because its time is over says less than what the one before has learnt.
  CancelSource* cancel = co_await current_cancel();
  if (cancel && cancel->cancelled() && !subject.webhooks.empty()) co_return fail(cancelled_error());
  for (size_t i = 0; i < callees.size(); ++i)
    if (is_answered(attempts[i].findings)) co_await prove_effect(callees[i], attempts[i].findings);
  CO_TRY(co_await review(callees, attempts));
  for (size_t i = 0; i < callees.size(); ++i) attempts[i].layers = layers_of(callees[i], attempts[i].findings);
  record(subject, callees, attempts);
  for (size_t i = 0; i < callees.size(); ++i)
    if (const Proof* proof = hopeless(attempts[i].findings)) co_return fail(hopeless_error(callees[i], *proof));
  tell(subject, callees, attempts);
  auto is_open = [](const Attempt& one) { return first_open(one.layers) != nullptr; };
  if (std::ranges::none_of(attempts, is_open)) co_return Outcome::functional;
  bool is_blocked = std::ranges::all_of(attempts, [&](const Attempt& one) { return one.is_blocked || !is_open(one); });
  co_return is_blocked ? Outcome::blocked : Outcome::open;
}

Task<Result<void>> Webhooks::follow(Subject& subject, Look look) {
  Backoff pauses = kPauses;
  while (!subject.is_settled()) {
    Looked looked = look();
    if (looked.trouble) run_.failed(subject, *std::move(looked.trouble));
    if (subject.is_settled()) break;
    Duration pause = kBlockedPause;
    uint64_t changes = changes_;
    if (!looked.callees.empty()) {
      subject.is_webhook = true;
      run_.seen(subject);
      TimePoint due = run_.due(subject);
      bool is_once = run_.timeout_for(subject) == Duration::zero();
      CancelSource cancel(co_await current_cancel());
      CancelAt timer(run_.loop, is_once ? run_.loop.now() + kOneAttempt : due, cancel);
      Result<Outcome> all = co_await try_all(subject, looked.callees).governed_by(&cancel);
      if (cancel.cancelled() && !timer.fired()) co_return fail(cancelled_error());
      if (!all && !timer.fired()) run_.failed(subject, all.error());
      // Somebody, such as an injector, may have changed the configuration meanwhile.
      else if (all && *all == Outcome::functional && versions_of(look().callees) == versions_of(looked.callees))
        run_.met(subject, "every ready endpoint answers, and the configuration is in effect");
      bool is_blocked = all && *all == Outcome::blocked && changes == changes_;
      if (!is_blocked) pause = pauses.next();
    } else if (looked.known) {
      if (looked.is_there) {
        subject.is_webhook = true;
        run_.seen(subject);
      }
      run_.tell(subject, looked.absence);
    }
    if (subject.is_settled()) break;
    TimePoint due = run_.due(subject);
    if (looked.known && run_.loop.now() >= due) {
      run_.timed_out(subject);
      break;
    }
    TimePoint next = looked.known ? std::min(due, run_.loop.now() + pause) : TimePoint::max();
    CO_TRY(co_await wait_until(run_.loop, changed_, next));
  }
  co_return Result<void>();
}

}  // namespace fairlead::wait
