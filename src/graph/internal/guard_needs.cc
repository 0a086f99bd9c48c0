#include "graph/internal/guard_needs.h"

#include <map>
#include <set>
#include <unordered_set>

#include "graph/internal/implicit_objects.h"
#include "plan/adjacency.h"

namespace fairlead::graph {
namespace {

bool is_admission(const Guard& guard) {
  return guard.kind != Guard::Kind::conversion && guard.kind != Guard::Kind::api_service;
}

// True if the guard's configuration is in the bundle and could refuse objects that the guard depends on. Only then does
// early registration do harm.
bool waits_for_backing(const Guard& guard) { return guard.object && is_admission(guard) && !guard.ignore; }

std::string short_name(const Guard& guard) {
  std::string text = guard.text();
  return is_admission(guard) ? text.substr(0, text.find(" (")) : text;
}

// An object that controllers create for a workload or in its namespace. Without it, the workload's pods do not start or
// do not become endpoints.
struct ByProduct {
  ImplicitObject what;
  std::string_view text;
};
constexpr ByProduct kByProducts[] = {
    {{"", "ConfigMap", "configmaps", "kube-root-ca.crt"}, "the ConfigMap kube-root-ca.crt, which its pods need"},
    {{"", "ServiceAccount", "serviceaccounts", "default"}, "the default ServiceAccount, which its pods need"},
    {{"apps", "ReplicaSet", "replicasets", ""}, "the ReplicaSets that its pods come from"},
    {{"apps", "ControllerRevision", "controllerrevisions", ""}, "the ControllerRevisions that its pods come from"},
    {{"discovery.k8s.io", "EndpointSlice", "endpointslices", ""}, "the EndpointSlices that its pods are found by"}};

class GuardNeeds {
 public:
  explicit GuardNeeds(GraphBuilder& builder) : builder_(builder), contents_(*builder.contents) {}

  void run() {
    plan::IdVector<NodeId, uint32_t> component = plan::components(everything());
    find_earliest();
    contents_.guard_sets = contents_.match_sets;
    for (NodeId i : builder_.objects()) {
      std::vector<GuardMatch> waits;
      for (const GuardMatch& match : contents_.matches_of(i))
        if (std::optional<Exemption> exemption = exempt(i, match, component))
          contents_.exemptions.push_back(*exemption);
        else waits.push_back(match);
      if (waits.size() != contents_.matches_of(i).size()) contents_.guard_sets[i] = builder_.sets.add(waits);
      if (!waits.empty()) wait_for(i, contents_.guard_sets[i]);
    }
    register_late();
  }

 private:
  // Returns all needs, including those for guards. Objects and the guards that depend on them end up in one component.
  // Each set of guard matches has a node of its own here. One more node stands for the basics: the CRDs and cluster
  // roles that any webhook's workload may need.
  plan::Adjacency<NodeId> everything() {
    size_t sets = contents_.match_starts.size() - 1;
    auto node_of_set = [&](size_t set) { return NodeId(contents_.nodes.size() + set); };
    NodeId basics = node_of_set(sets);
    std::map<std::string_view, std::vector<NodeId>> answering = answering_by_namespace();
    plan::Adjacency<NodeId> links(basics.index() + 1);
    auto each = [&](auto take) {
      for (const Edge& edge : builder_.edges) take(edge.from, edge.to);
      for (NodeId i : builder_.objects())
        if (contents_.match_sets[i] != 0) take(i, node_of_set(contents_.match_sets[i]));
      for (uint32_t set = 0; set < sets; ++set)
        for (const GuardMatch& match : contents_.match_set(set))
          take(node_of_set(set), builder_.guard_node(match.guard));
      for (const Guard& guard : contents_.guards)
        if (waits_for_backing(guard))
          for (NodeId object : guard.backed_by) take(*guard.object, object);
      for (const auto& [ns, workloads] : answering)
        for (NodeId workload : workloads) take(workload, basics);
      for (NodeId i : builder_.objects()) add_basic(i, basics, answering, take);
    };
    each([&](NodeId from, NodeId) { links.count(from); });
    links.lay_out();
    each([&](NodeId from, NodeId to) { links.add(from, to); });
    return links;
  }

  // Decides whether the object is exempt from a guard that matches it. Without its APIService, an object cannot be sent
  // at all, so nothing is exempt from that.
  std::optional<Exemption> exempt(NodeId object, const GuardMatch& match,
                                  const plan::IdVector<NodeId, uint32_t>& component) const {
    const Guard& guard = contents_.guards[match.guard];
    if (guard.kind == Guard::Kind::api_service) return std::nullopt;
    if (component[object] == component[builder_.guard_node(match.guard)])
      return Exemption{.object = object, .guard = match.guard};
    if (precedes(object, guard)) return Exemption{.object = object, .guard = match.guard, .precedes = true};
    return std::nullopt;
  }

  // An object that is in no step, such as a Namespace, belongs to the first step that needs it.
  void find_earliest() {
    earliest_ = builder_.step_of;
    if (builder_.steps.empty()) return;
    for (const Edge& edge : builder_.edges)
      if (edge.hard && builder_.is_object(edge.from) && builder_.is_object(edge.to) &&
          builder_.step_of[edge.to] == kNone)
        earliest_[edge.to] = std::min(earliest_[edge.to], builder_.step_of[edge.from]);
  }

  // True if the object is in an earlier step than the guard's configuration or a workload that answers for the guard.
  bool precedes(NodeId object, const Guard& guard) const {
    uint32_t step = earliest_[object];
    auto comes_later = [&](NodeId other) { return builder_.step_of[other] != kNone && builder_.step_of[other] > step; };
    if (step == kNone) return false;
    if (guard.object && comes_later(*guard.object)) return true;
    return std::ranges::any_of(guard.backed_by, [&](NodeId other) { return answers(other) && comes_later(other); });
  }

  bool answers(NodeId object) const {
    return builder_.family(object) == Family::workload || builder_.family(object) == Family::pod;
  }

  // Returns the workloads of the bundle that answer for admission webhooks, by namespace.
  std::map<std::string_view, std::vector<NodeId>> answering_by_namespace() const {
    std::map<std::string_view, std::vector<NodeId>> found;
    for (const Guard& guard : contents_.guards) {
      if (!guard.webhook) continue;
      for (NodeId object : guard.backed_by) {
        std::vector<NodeId>& there = found[builder_.key(object).ns];
        if (answers(object) && std::ranges::find(there, object) == there.end()) there.push_back(object);
      }
    }
    return found;
  }

  // A controller becomes ready only once it can read its own kinds and has its RBAC rights. No manifest says which CRDs
  // those are, and roles can be aggregated. So the webhook blocks no CRD and no cluster-wide role or binding of the
  // bundle, and none in the namespace of its workload.
  template <class Take>
  void add_basic(NodeId object, NodeId basics, const std::map<std::string_view, std::vector<NodeId>>& answering,
                 Take take) const {
    if (answering.empty() || contents_.left_out[object]) return;
    bool is_right = builder_.key(object).group == "rbac.authorization.k8s.io";
    if (builder_.family(object) != Family::definition && !is_right) return;
    const std::string& ns = builder_.key(object).ns;
    if (ns.empty()) return take(basics, object);
    if (auto beside = answering.find(ns); beside != answering.end())
      for (NodeId workload : beside->second) take(workload, object);
  }

  std::string reason(const GuardMatch& match) const {
    return fmt::format("{} guards {}", short_name(contents_.guards[match.guard]), match.by_pods ? "its pods" : "it");
  }

  // Returns the node that stands for these guards. A single guard stands for itself. Several guards, which many objects
  // share, get an all_of node.
  NodeId gate(std::span<const GuardMatch> matches) {
    if (matches.size() == 1) return builder_.guard_node(matches[0].guard);
    std::string name = short_name(contents_.guards[matches[0].guard]);
    name += matches.size() == 2 ? " and one other" : fmt::format(" and {} others", matches.size() - 1);
    NodeId node = builder_.add_named(Node::Kind::all_of, std::move(name));
    for (const GuardMatch& match : matches)
      builder_.need(node, builder_.guard_node(match.guard), Level::ready, true, reason(match));
    return node;
  }

  void wait_for(NodeId object, uint32_t set) {
    std::span<const GuardMatch> matches = contents_.match_set(set);
    auto [entry, is_new] = gates_.try_emplace(set, kNoNode);
    if (is_new) entry->second = gate(matches);
    builder_.need(object, entry->second, Level::ready, true,
                  matches.size() == 1 ? reason(matches[0]) : std::string("the webhooks and policies that guard it"));
  }

  // Delays the registration of guards that fail closed and would refuse objects that they depend on. If such a guard
  // were registered before all of these objects work, an interrupted run would leave a cluster that can neither be
  // repaired nor rolled out again.
  void register_late() {
    std::set<std::pair<NodeId, NodeId>> seen;
    std::unordered_set<GuardId> intercepting;
    std::set<std::pair<NodeId, NodeId>> writers;
    for (const Edge& edge : builder_.edges)
      if (builder_.is_object(edge.from) && builder_.family(edge.from) == Family::job)
        writers.emplace(edge.to, edge.from);
    for (const Exemption& exemption : contents_.exemptions) {
      const Guard& guard = contents_.guards[exemption.guard];
      if (!waits_for_backing(guard) || exemption.precedes) continue;
      intercepting.insert(exemption.guard);
      // A Job that writes the certificate into the configuration needs the configuration first.
      if (writers.contains({*guard.object, exemption.object})) continue;
      if (!seen.emplace(*guard.object, exemption.object).second) continue;
      builder_.need(*guard.object, exemption.object, Level::ready, true,
                    fmt::format("{} would refuse it, and depends on it", short_name(guard)));
    }
    for (GuardId i : contents_.guards.ids()) {
      const Guard& guard = contents_.guards[i];
      if (!waits_for_backing(guard) || !guard.webhook) continue;
      for (NodeId object : guard.backed_by) {
        bool is_service = builder_.key(object).kind == "Service" && builder_.key(object).group.empty();
        if (builder_.family(object) != Family::workload && !is_service) continue;
        std::string_view refused = refused_beside(guard, builder_.key(object).ns);
        // Without its inventory, no later run could start to repair anything.
        if (refused.empty() && sees_record(builder_, guard)) refused = "the inventory of the bundle";
        if (refused.empty() && intercepting.contains(i)) refused = "what it depends on";
        if (!refused.empty() && seen.emplace(*guard.object, object).second)
          builder_.need(*guard.object, object, is_service ? Level::stored : Level::ready, true,
                        fmt::format("{} would refuse {}", short_name(guard), refused));
      }
    }
  }

  // Describes an object in `ns` that controllers create and that the guard would refuse. Empty if there is none.
  std::string_view refused_beside(const Guard& guard, const std::string& ns) const {
    for (const ByProduct& one : kByProducts)
      if (sees(builder_, guard, one.what, ns)) return one.text;
    return {};
  }

  GraphBuilder& builder_;
  Contents& contents_;
  plan::IdVector<NodeId, uint32_t> earliest_;   // the step that each object belongs to
  std::unordered_map<uint32_t, NodeId> gates_;  // the node that stands for each set of matches
};

}  // namespace

void add_guard_needs(GraphBuilder& builder) { GuardNeeds(builder).run(); }

}  // namespace fairlead::graph
