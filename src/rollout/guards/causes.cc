#include "rollout/guards/causes.h"

#include <algorithm>

#include "base/duration_text.h"
#include "rollout/core/field_texts.h"
#include "rollout/guards/guards.h"
#include "rollout/guards/missing.h"
#include "rollout/guards/retry_gates.h"

namespace fairlead::rollout {
namespace {

using kube::FaultKind;
using removal::Chain;

// Returns what the cluster shows about the objects behind a guard.
Chain what_backs_it(const Run& run, const Evidence& evidence, const graph::Guard& guard) {
  Chain chain;
  if (!guard.service) return chain;
  const std::string& ns = guard.service->ns;
  const Json* service = run.service(ns, guard.service->name);
  if (!service || !evidence.knows("EndpointSlice", ns) || !evidence.knows("Pod", ns)) return chain;
  readiness::Why why =
      readiness::why_no_endpoints(*service, evidence.slices(ns), evidence.pods(ns), {.begun = run.begun_at_server()});
  if (!why.causes.empty()) add_missing(why, run, evidence, *service);
  chain.add(why);
  return chain;
}

// A guard that an object waited for before it was sent, and what is wrong with the guard.
struct InFront {
  GuardId guard;
  const kube::Fault* fault = nullptr;
};
std::optional<InFront> in_front_of(const Run& run, const Guards& guards, NodeId node) {
  for (const graph::GuardMatch& match : run.graph().guards_of(node))
    if (const Guards::Standing& standing = guards.standing(match.guard); standing.fault)
      return InFront{.guard = match.guard, .fault = &*standing.fault};
  return std::nullopt;
}

// Returns the explanation, with the configuration that contains the webhook.
std::string explained(const kube::Fault& fault, const graph::Guard& guard) {
  std::string name = "webhook " + guard.name;
  bool names_it = fault.webhook && fault.explanation.starts_with(name + " ");
  return names_it ? guard.text() + fault.explanation.substr(name.size()) : fault.explanation;
}

void add_fault(Chain& chain, const kube::Fault& fault) {
  chain.causes.push_back(fault.explanation);
  // The explanation already contains what a webhook says or does not say.
  bool says_more = !fault.webhook && fault.explanation.find(fault.message) == std::string::npos;
  if (says_more) chain.causes.push_back(fault.message);
  chain.next = fault.advice;
}

// Returns why a guard does not accept an object: what the cluster shows about it, or else what the API server says.
Chain guard_chain(const Run& run, const Evidence& evidence, const graph::Guard& guard, const kube::Fault& fault) {
  Chain chain;
  if (is_about_service(fault)) chain = what_backs_it(run, evidence, guard);
  if (chain.causes.empty()) {
    add_fault(chain, fault);
    chain.causes.front() = explained(fault, guard);
  } else {
    chain.causes.insert(chain.causes.begin(), guard.text() + " is not answering");
  }
  return chain;
}

Error unknown_field_error(const Run& run, NodeId node, std::string what, UnknownFields unknown) {
  Chain chain{.causes = std::move(unknown.lines), .next = std::move(unknown.advice)};
  const std::string& where = unknown.where.empty() ? run.object(node).source().text() : unknown.where;
  return std::move(chain).under(ErrorKind::denied, std::move(what), where);
}

}  // namespace

Error guard_error(const Run& run, const Guards& guards, const Evidence& evidence, GuardId guard,
                  std::optional<Duration> within) {
  const graph::Guard& it = run.graph().guards()[guard];
  const Guards::Standing& standing = guards.standing(guard);
  Chain chain = what_backs_it(run, evidence, it);
  if (standing.fault && (chain.causes.empty() || !is_about_service(*standing.fault))) {
    Chain said;
    add_fault(said, *standing.fault);
    chain.causes.insert(chain.causes.begin(), said.causes.begin(), said.causes.end());
    if (chain.next.empty()) chain.next = said.next;
  }
  if (chain.causes.empty() && !standing.evidence.empty()) chain.causes.push_back(standing.evidence);
  std::string what = fmt::format("{} is not answering{}", it.text(), within ? " after " + short_text(*within) : "");
  std::string where = it.object ? run.object(*it.object).source().text() : std::string();
  return std::move(chain).under(within ? ErrorKind::timeout : ErrorKind::unavailable, std::move(what), where);
}

Error refused_error(const Run& run, const Guards& guards, const Evidence& evidence, NodeId node,
                    const kube::Failure& failure, std::optional<Duration> within) {
  const object::Object& object = run.object(node);
  std::string what =
      fmt::format("{} was not accepted{}", object.key().text(), within ? " within " + short_text(*within) : "");
  ErrorKind kind = within ? ErrorKind::timeout : ErrorKind::denied;
  const kube::Fault* fault = failure.fault();
  std::optional<GuardId> guard = fault && fault->webhook ? guards.find_webhook(*fault->webhook) : std::nullopt;
  if (!fault) {
    if (failure.error().kind() != ErrorKind::cancelled)
      return Error(kind, what).because(failure.error()).at(object.source().text());
    std::optional<InFront> front = in_front_of(run, guards, node);
    if (!front) return Error(kind, what).at(object.source().text());
    fault = front->fault;
    guard = front->guard;
  }
  Chain chain;
  if (guard && fault->kind != FaultKind::webhook_denied) {
    chain = guard_chain(run, evidence, run.graph().guards()[*guard], *fault);
  } else if (UnknownFields unknown = unknown_fields(run, node, *fault); !unknown.lines.empty()) {
    return unknown_field_error(run, node, std::move(what), std::move(unknown));
  } else if (fault->kind == FaultKind::field_conflict) {
    chain = {.causes = owner_lines(*fault), .next = conflict_advice(*fault)};
    if (chain.causes.empty()) chain.causes.push_back(fault->explanation);
  } else {
    add_fault(chain, *fault);
  }
  return std::move(chain).under(kind, std::move(what), object.source().text());
}

Error belongs_error(const Run& run, NodeId node, const inventory::Owner& owner) {
  const object::Object& object = run.object(node);
  Error error(ErrorKind::denied, fmt::format("{} belongs to {}", object.key().text(), owner.text));
  error = std::move(error).at(object.source().text());
  if (!run.part_of().empty())
    return std::move(error).next(
        "fairlead apply … --adopt moves it to this bundle; or leave it out of these manifests");
  if (!owner.bundle)
    return std::move(error).next("fairlead apply … --name BUNDLE --adopt moves it to a bundle of yours");
  return std::move(error).next(fmt::format(
      "fairlead apply -n {} --name {} … with all manifests of that bundle; or leave it out of these manifests",
      owner.bundle->home, owner.bundle->name));
}

Error not_ready_error(const Run& run, const Evidence& evidence, NodeId node, std::optional<Duration> within) {
  const object::Object& object = run.object(node);
  const readiness::Verdict& verdict = run.state(node).verdict;
  Chain chain;
  if (!verdict.reason.empty()) chain.causes.push_back(verdict.reason);
  chain.add(why_pods(run, evidence, node, as_stored(run, node)));
  if (const Error* unseen = evidence.trouble("Pod", object.ns()))
    chain.causes.push_back("its pods cannot be read: " + unseen->message());
  if (const Error* unseen = evidence.trouble("StorageClass", ""); unseen && object.kind() == "PersistentVolumeClaim")
    chain.causes.push_back("it is not known whether it is bound only on first use: " + unseen->message());
  if (chain.next.empty())
    chain.next = fmt::format("kubectl {}describe {} {}", object.ns().empty() ? "" : "-n " + object.ns() + " ",
                             object.kind(), object.name());
  std::string what = within ? fmt::format("{} is not ready after {}", object.key().text(), short_text(*within))
                            : fmt::format("{} failed", object.key().text());
  return std::move(chain).under(within ? ErrorKind::timeout : ErrorKind::unavailable, std::move(what),
                                object.source().text());
}

Error unclaimed_error(const Run& run, const Evidence& evidence, const Unclaimed& unclaimed, const kube::Fault& fault,
                      Duration within) {
  Chain chain;
  if (unclaimed.guard)
    chain.causes.push_back(fmt::format("{} blocks writes to its inventory, {}",
                                       run.graph().guards()[*unclaimed.guard].text(), unclaimed.record));
  if (!unclaimed.other.empty())
    chain.causes.push_back(fmt::format("{} has claimed it, and could not renew its claim either", unclaimed.other));
  add_fault(chain, fault);
  if (unclaimed.guard) {
    Chain below = what_backs_it(run, evidence, run.graph().guards()[*unclaimed.guard]);
    chain.causes.insert(chain.causes.end(), below.causes.begin(), below.causes.end());
    if (!below.next.empty()) chain.next = below.next;
  }
  if (unclaimed.repairable)
    chain.next =
        "fairlead apply … without --name and --prune writes no inventory and can repair the webhook; then run this "
        "again";
  return std::move(chain).under(ErrorKind::timeout,
                                fmt::format("bundle {} in namespace {} could not be claimed within {}",
                                            unclaimed.bundle, unclaimed.home, short_text(within)),
                                "");
}

std::string held_text(const Run& run, NodeId node) {
  if (run.is_object(node)) {
    const ObjectState& state = run.state(node);
    if (state.stored != ObjectState::Stored::no) return state.verdict.reason;
    if (state.fault) return state.fault->explanation;
  }
  std::vector<plan::Edge> unmet = run.plan().unmet(node);
  if (unmet.empty()) return "being sent";
  std::string text = fmt::format("{} ({})", run.graph().text(unmet.front().needs), unmet.front().reason);
  if (unmet.size() > 1) text += fmt::format(" and {} more", unmet.size() - 1);
  return text;
}

}  // namespace fairlead::rollout
