#include "rollout/made_kinds.h"

#include "graph/makers.h"

namespace fairlead::rollout {
namespace {

std::string describe_command(const object::Key& key) {
  return fmt::format("kubectl{} describe {} {}", key.ns.empty() ? "" : " -n " + key.ns, key.kind, key.name);
}

// Of a maker that is part of the bundle.
std::string standing(const Run& run, uint32_t maker) {
  const Record& record = run.records[maker];
  if (run.plan.state(maker) == Plan::State::failed) return "has failed";
  if (run.plan.state(maker) == Plan::State::ready) return "is ready";
  return record.verdict.reason.empty() ? "is stored" : "is stored: " + record.verdict.reason;
}

struct Maker {
  object::Key key;
  std::string standing;
};

std::vector<Maker> makers_of(const Run& run, uint32_t node) {
  std::vector<Maker> makers;
  for (const graph::Need& need : run.graph.needs_of(node))
    if (need.reason == graph::kMakesItsKind)
      makers.push_back({.key = run.object(need.target).key(), .standing = standing(run, need.target)});
  const object::Object& object = run.object(node);
  for (const Json& live : run.cluster.makers) {
    Result<object::Key> key = key_of(live);
    if (key && graph::makes(live, object.group(), object.kind()) == graph::Makes::yes)
      makers.push_back({.key = *std::move(key), .standing = "is in the cluster"});
  }
  return makers;
}

}  // namespace

kube::Fault kind_fault(const Run& run, uint32_t node) {
  const object::Object& object = run.object(node);
  kube::Fault fault;
  fault.kind = kube::FaultKind::not_served;
  fault.disposition = kube::Disposition::parked;
  fault.explanation =
      fmt::format("the cluster does not serve kind {} of {}/{} yet", object.kind(), object.group(), object.version());
  fault.subject = fmt::format("kind {} of {}", object.kind(), object.group());
  fault.advice = "kubectl api-resources --api-group=" + object.group();
  std::vector<Maker> makers = makers_of(run, node);
  if (makers.empty()) return fault;
  fault.advice = describe_command(makers[0].key);
  fault.explanation +=
      fmt::format(": a controller has to define it for {}, which {}", makers[0].key.text(), makers[0].standing);
  if (makers.size() > 1) fault.explanation += fmt::format(" (or for {} more)", makers.size() - 1);
  return fault;
}

}  // namespace fairlead::rollout
