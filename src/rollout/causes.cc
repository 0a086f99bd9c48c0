#include "rollout/causes.h"

#include "rollout/guards.h"

namespace fairlead::rollout {
namespace {

using removal::Chain;

// What the cluster shows behind a guard.
void add_what_it_stands_on(Chain& chain, const Run& run, const Evidence& evidence, const graph::Guard& guard) {
  if (!guard.service) return;
  const Json* service = run.service(guard.service->ns, guard.service->name);
  if (!service) return;
  chain.add(
      readiness::why_no_endpoints(*service, evidence.slices(guard.service->ns), evidence.pods(guard.service->ns)));
}

void add_fault(Chain& chain, const kube::Fault& fault) {
  chain.causes.push_back(fault.explanation);
  if (!fault.message.empty() && fault.message != fault.explanation) chain.causes.push_back(fault.message);
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
  if (!fault) return Error(kind, what).because(failure.error()).at(object.source().text());
  Chain chain;
  std::optional<uint32_t> guard = fault->webhook ? guards.find_webhook(*fault->webhook) : std::nullopt;
  if (guard && fault->kind != kube::FaultKind::webhook_denied)
    chain.causes.push_back(fmt::format("{} holds it", run.graph.guards()[*guard].text()));
  add_fault(chain, *fault);
  if (guard && fault->kind != kube::FaultKind::webhook_denied)
    add_what_it_stands_on(chain, run, evidence, run.graph.guards()[*guard]);
  return std::move(chain).under(kind, std::move(what), object.source().text());
}

Error not_ready_error(const Run& run, const Evidence& evidence, uint32_t node, std::optional<Duration> within) {
  const object::Object& object = run.object(node);
  const readiness::Verdict& verdict = run.records[node].verdict;
  Chain chain;
  if (!verdict.reason.empty()) chain.causes.push_back(verdict.reason);
  chain.add(readiness::why_not_ready(object.value(), evidence.pods(object.ns())));
  if (chain.next.empty())
    chain.next = fmt::format("kubectl {}describe {} {}", object.ns().empty() ? "" : "-n " + object.ns() + " ",
                             object.kind(), object.name());
  std::string what = within ? fmt::format("{} is not ready after {}", object.key().text(), short_text(*within))
                            : fmt::format("{} failed", object.key().text());
  return std::move(chain).under(within ? ErrorKind::timeout : ErrorKind::unavailable, std::move(what),
                                object.source().text());
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
