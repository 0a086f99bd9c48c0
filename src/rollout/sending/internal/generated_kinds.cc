#include "rollout/sending/internal/generated_kinds.h"

#include "graph/kind_generators.h"

namespace fairlead::rollout {
namespace {

std::string describe_command(const object::Key& key) {
  return fmt::format("kubectl{} describe {} {}", key.ns.empty() ? "" : " -n " + key.ns, key.kind, key.name);
}

// Says how far a KindGenerator of the bundle is.
std::string standing(const Run& run, NodeId generator) {
  const ObjectState& state = run.state(generator);
  if (run.plan().state(generator) == Plan::State::failed) return "has failed";
  if (run.plan().state(generator) == Plan::State::done) return "is ready";
  return state.verdict.reason.empty() ? "is stored" : "is stored: " + state.verdict.reason;
}

struct Maker {
  object::Key key;
  std::string standing;
};

std::vector<Maker> generators_of(const Run& run, NodeId node) {
  std::vector<Maker> kind_generators;
  for (const graph::Need& need : run.graph().needs_of(node))
    if (need.reason == graph::kMakesItsKind)
      kind_generators.push_back({.key = run.object(need.target).key(), .standing = standing(run, need.target)});
  const object::Object& object = run.object(node);
  for (const Json& live : run.cluster().kind_generators) {
    Result<object::Key> key = key_of(live);
    if (key && graph::makes(live, object.group(), object.kind()) == graph::Makes::yes)
      kind_generators.push_back({.key = *std::move(key), .standing = "is in the cluster"});
  }
  return kind_generators;
}

}  // namespace

kube::Fault kind_fault(const Run& run, NodeId node) {
  const object::Object& object = run.object(node);
  kube::Fault fault;
  fault.kind = kube::FaultKind::not_served;
  fault.disposition = kube::Disposition::parked;
  fault.explanation =
      fmt::format("the cluster does not serve kind {} of {}/{} yet", object.kind(), object.group(), object.version());
  fault.subject = fmt::format("kind {} of {}", object.kind(), object.group());
  fault.advice = "kubectl api-resources --api-group=" + object.group();
  std::vector<Maker> kind_generators = generators_of(run, node);
  if (kind_generators.empty()) return fault;
  fault.advice = describe_command(kind_generators[0].key);
  fault.explanation += fmt::format(": a controller has to define it for {}, which {}", kind_generators[0].key.text(),
                                   kind_generators[0].standing);
  if (kind_generators.size() > 1) fault.explanation += fmt::format(" (or for {} more)", kind_generators.size() - 1);
  return fault;
}

}  // namespace fairlead::rollout
