#include "rollout/causes.h"

#include "rollout/guards.h"

namespace fairlead::rollout {
namespace {

using removal::Chain;

// What the cluster shows behind a guard.
void add_what_it_stands_on(Chain& chain, const Run& run, const Evidence& evidence, const graph::Guard& guard) {
  if (!guard.service) return;
  const Json* service = run.service(guard.service->ns, guard.service->name);
  if (!service || !evidence.knows("EndpointSlice", guard.service->ns) || !evidence.knows("Pod", guard.service->ns))
    return;
  chain.add(readiness::why_no_endpoints(*service, evidence.slices(guard.service->ns), evidence.pods(guard.service->ns),
                                        {.begun = run.begun_at_server}));
}

// What is wrong with a guard that an object waited for without being sent.
const kube::Fault* fault_in_front_of(const Run& run, const Guards& guards, uint32_t node) {
  for (const graph::Meeting& meeting : run.graph.guards_of(node))
    if (const Guards::Standing& standing = guards.standing(meeting.guard); standing.fault) return &*standing.fault;
  return nullptr;
}

void add_fault(Chain& chain, const kube::Fault& fault) {
  chain.causes.push_back(fault.explanation);
  if (fault.explanation.find(fault.message) == std::string::npos) chain.causes.push_back(fault.message);
  chain.next = fault.advice;
}

}  // namespace

Error guard_error(const Run& run, const Guards& guards, const Evidence& evidence, uint32_t guard,
                  std::optional<Duration> within) {
  const graph::Guard& it = run.graph.guards()[guard];
  const Guards::Standing& standing = guards.standing(guard);
  Chain chain;
  if (standing.fault) add_fault(chain, *standing.fault);
  add_what_it_stands_on(chain, run, evidence, it);
  if (chain.causes.empty() && !standing.evidence.empty()) chain.causes.push_back(standing.evidence);
  std::string what = fmt::format("{} is not answering{}", it.text(), within ? " after " + short_text(*within) : "");
  std::string where = it.object ? run.object(*it.object).source().text() : std::string();
  return std::move(chain).under(within ? ErrorKind::timeout : ErrorKind::unavailable, std::move(what), where);
}

Error refused_error(const Run& run, const Guards& guards, const Evidence& evidence, uint32_t node,
                    const kube::Failure& failure, std::optional<Duration> within) {
  const object::Object& object = run.object(node);
  std::string what =
      fmt::format("{} was not accepted{}", object.key().text(), within ? " within " + short_text(*within) : "");
  ErrorKind kind = within ? ErrorKind::timeout : ErrorKind::denied;
  const kube::Fault* fault = failure.fault();
  bool was_waiting = !fault && failure.error().kind() == ErrorKind::cancelled;
  if (was_waiting) fault = fault_in_front_of(run, guards, node);
  if (!fault && was_waiting) return Error(kind, what).at(object.source().text());
  if (!fault) return Error(kind, what).because(failure.error()).at(object.source().text());
  Chain chain;
  std::optional<uint32_t> guard = fault->webhook ? guards.find_webhook(*fault->webhook) : std::nullopt;
  if (guard && fault->kind != kube::FaultKind::webhook_denied)
    chain.causes.push_back(fmt::format("{} holds it", run.graph.guards()[*guard].text()));
  add_fault(chain, *fault);
  if (fault->kind == kube::FaultKind::field_conflict)
    chain.next = "fairlead apply … --force-conflicts takes the fields over; or leave them out of the manifest";
  if (guard && fault->kind != kube::FaultKind::webhook_denied)
    add_what_it_stands_on(chain, run, evidence, run.graph.guards()[*guard]);
  return std::move(chain).under(kind, std::move(what), object.source().text());
}

Error belongs_error(const Run& run, uint32_t node, const inventory::Owner& owner) {
  const object::Object& object = run.object(node);
  Error error(ErrorKind::denied, fmt::format("{} belongs to {}", object.key().text(), owner.text));
  error = std::move(error).at(object.source().text());
  if (!run.part_of.empty())
    return std::move(error).next(
        "fairlead apply … --adopt moves it to this bundle; or leave it out of these manifests");
  if (!owner.bundle)
    return std::move(error).next("fairlead apply … --name BUNDLE --adopt moves it to a bundle of yours");
  return std::move(error).next(fmt::format(
      "fairlead apply -n {} --name {} … with all manifests of that bundle; or leave it out of these manifests",
      owner.bundle->home, owner.bundle->name));
}

Error not_ready_error(const Run& run, const Evidence& evidence, uint32_t node, std::optional<Duration> within) {
  const object::Object& object = run.object(node);
  const readiness::Verdict& verdict = run.records[node].verdict;
  Chain chain;
  if (!verdict.reason.empty()) chain.causes.push_back(verdict.reason);
  if (evidence.knows("Pod", object.ns()))
    chain.add(readiness::why_not_ready(object.value(), evidence.pods(object.ns()), {.begun = run.begun_at_server}));
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
    chain.causes.push_back(
        fmt::format("{} holds its record, {}", run.graph.guards()[*unclaimed.guard].text(), unclaimed.record));
  if (!unclaimed.other.empty())
    chain.causes.push_back(fmt::format("{} has claimed it, and could not give a sign of life either", unclaimed.other));
  add_fault(chain, fault);
  if (unclaimed.guard) add_what_it_stands_on(chain, run, evidence, run.graph.guards()[*unclaimed.guard]);
  if (unclaimed.repairable)
    chain.next =
        "fairlead apply … without --name and --prune writes no record, and can repair the webhook; then run this again";
  return std::move(chain).under(ErrorKind::timeout,
                                fmt::format("bundle {} in namespace {} could not be claimed within {}",
                                            unclaimed.bundle, unclaimed.home, short_text(within)),
                                "");
}

std::string held_text(const Run& run, uint32_t node) {
  if (node < run.records.size()) {
    const Record& record = run.records[node];
    if (record.stored != Record::Stored::no) return record.verdict.reason;
    if (record.fault) return record.fault->explanation;
  }
  std::vector<graph::Need> needs = run.plan.unmet(node);
  if (needs.empty()) return "on its way";
  std::string text = fmt::format("{} ({})", run.graph.text(needs.front().target), needs.front().reason);
  if (needs.size() > 1) text += fmt::format(" and {} more", needs.size() - 1);
  return text;
}

}  // namespace fairlead::rollout
