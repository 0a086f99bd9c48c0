#include "graph/gates.h"

#include <map>
#include <unordered_set>

#include "graph/bystanders.h"
#include "graph/loops.h"

namespace fairlead::graph {
namespace {

bool is_admission(const Guard& guard) {
  return guard.kind != Guard::Kind::conversion && guard.kind != Guard::Kind::api_service;
}

// Early registration does harm only where it can refuse what the guard stands on.
bool waits_for_stands(const Guard& guard) { return guard.object && is_admission(guard) && !guard.ignore; }

std::string short_name(const Guard& guard) {
  std::string text = guard.text();
  return is_admission(guard) ? text.substr(0, text.find(" (")) : text;
}

// What controllers make of a workload, or in its namespace, and without which its pods do not start or are not found.
struct ByProduct {
  Bystander what;
  std::string_view text;
};
constexpr ByProduct kByProducts[] = {
    {{"", "ConfigMap", "configmaps", "kube-root-ca.crt"}, "the ConfigMap kube-root-ca.crt, which its pods need"},
    {{"", "ServiceAccount", "serviceaccounts", "default"}, "the default ServiceAccount, which its pods need"},
    {{"apps", "ReplicaSet", "replicasets", ""}, "the ReplicaSets that its pods come from"},
    {{"apps", "ControllerRevision", "controllerrevisions", ""}, "the ControllerRevisions that its pods come from"},
    {{"discovery.k8s.io", "EndpointSlice", "endpointslices", ""}, "the EndpointSlices that its pods are found by"}};

class Gates {
 public:
  explicit Gates(Draft& draft) : draft_(draft), contents_(*draft.contents) {}

  void run() {
    std::vector<uint32_t> component = components(everything());
    find_earliest();
    sets_.assign(contents_.meeting_starts.size() - 1, kNone);
    for (uint32_t i = 0; i < draft_.object_count(); ++i) {
      std::span<const Meeting> meetings = contents_.meetings_of(i);
      if (meetings.empty()) continue;
      std::vector<Meeting> waits;
      for (const Meeting& meeting : meetings) {
        const Guard& guard = contents_.guards[meeting.guard];
        bool rests_on = component[i] == component[draft_.guard_node(meeting.guard)];
        if (is_way_in(guard)) waits.push_back(meeting);
        else if (rests_on) contents_.exemptions.push_back({.object = i, .guard = meeting.guard});
        else if (precedes(i, guard))
          contents_.exemptions.push_back({.object = i, .guard = meeting.guard, .precedes = true});
        else waits.push_back(meeting);
      }
      if (waits.size() == meetings.size()) wait_for_set(i, contents_.meeting_sets[i]);
      else wait_for(i, waits);
    }
    register_late();
  }

 private:
  // All the needs that there are, those for guards included: objects and the guards that rest on them end up in one
  // component. A set of meetings is a node of its own here, and so are the basics.
  Links everything() {
    auto nodes = static_cast<uint32_t>(contents_.nodes.size());
    auto sets = static_cast<uint32_t>(contents_.meeting_starts.size() - 1);
    uint32_t basics = nodes + sets;
    std::map<std::string_view, std::vector<uint32_t>> answering = answering_by_namespace();
    Links links(basics + 1);
    auto each = [&](auto take) {
      for (const Edge& edge : draft_.edges) take(edge.from, edge.to);
      for (uint32_t i = 0; i < draft_.object_count(); ++i)
        if (contents_.meeting_sets[i] != 0) take(i, nodes + contents_.meeting_sets[i]);
      for (uint32_t set = 0; set < sets; ++set)
        for (uint32_t m = contents_.meeting_starts[set]; m < contents_.meeting_starts[set + 1]; ++m)
          take(nodes + set, draft_.guard_node(contents_.meetings[m].guard));
      for (const Guard& guard : contents_.guards)
        if (waits_for_stands(guard))
          for (uint32_t object : guard.stands_on) take(*guard.object, object);
      for (const auto& [ns, workloads] : answering)
        for (uint32_t workload : workloads) take(workload, basics);
      for (uint32_t i = 0; i < draft_.object_count(); ++i) add_basic(i, basics, answering, take);
    };
    each([&](uint32_t from, uint32_t) { links.count(from); });
    links.lay_out();
    each([&](uint32_t from, uint32_t to) { links.add(from, to); });
    return links;
  }

  // Without it the object has nowhere to go.
  static bool is_way_in(const Guard& guard) { return guard.kind == Guard::Kind::api_service; }

  // What is in no step itself, such as a Namespace, comes with the first step that needs it.
  void find_earliest() {
    earliest_ = draft_.step_of;
    if (draft_.steps.empty()) return;
    for (const Edge& edge : draft_.edges)
      if (edge.hard && edge.from < draft_.object_count() && edge.to < draft_.object_count() &&
          draft_.step_of[edge.to] == kNone)
        earliest_[edge.to] = std::min(earliest_[edge.to], draft_.step_of[edge.from]);
  }

  // Whether the object was asked to come before what registers the guard or answers for it.
  bool precedes(uint32_t object, const Guard& guard) const {
    uint32_t step = earliest_[object];
    auto comes_later = [&](uint32_t other) { return draft_.step_of[other] != kNone && draft_.step_of[other] > step; };
    if (step == kNone) return false;
    if (guard.object && comes_later(*guard.object)) return true;
    return std::ranges::any_of(guard.stands_on, [&](uint32_t other) { return answers(other) && comes_later(other); });
  }

  bool answers(uint32_t object) const {
    return draft_.family(object) == Family::workload || draft_.family(object) == Family::pod;
  }

  // The workloads of the bundle that answer for admission webhooks.
  std::map<std::string_view, std::vector<uint32_t>> answering_by_namespace() const {
    std::map<std::string_view, std::vector<uint32_t>> found;
    for (const Guard& guard : contents_.guards) {
      if (!guard.webhook) continue;
      for (uint32_t object : guard.stands_on) {
        std::vector<uint32_t>& there = found[draft_.key(object).ns];
        if (answers(object) && std::ranges::find(there, object) == there.end()) there.push_back(object);
      }
    }
    return found;
  }

  // A controller starts to work only once it can read the kinds that it is for and may do what it does. No manifest
  // says which CRDs those are, and roles can be aggregated: so its webhook holds no CRD and no role of the bundle.
  template <class Take>
  void add_basic(uint32_t object, uint32_t basics, const std::map<std::string_view, std::vector<uint32_t>>& answering,
                 Take take) const {
    if (answering.empty() || contents_.left_out[object]) return;
    bool is_right = draft_.key(object).group == "rbac.authorization.k8s.io";
    if (draft_.family(object) != Family::definition && !is_right) return;
    const std::string& ns = draft_.key(object).ns;
    if (ns.empty()) return take(basics, object);
    if (auto beside = answering.find(ns); beside != answering.end())
      for (uint32_t workload : beside->second) take(workload, object);
  }

  std::string reason(const Meeting& meeting) const {
    return fmt::format("{} guards {}", short_name(contents_.guards[meeting.guard]),
                       meeting.by_pods ? "its pods" : "it");
  }

  // One guard is needed as it is; several, which many objects share, are one node.
  uint32_t gate(std::span<const Meeting> meetings) {
    if (meetings.size() == 1) return draft_.guard_node(meetings[0].guard);
    std::string name = short_name(contents_.guards[meetings[0].guard]);
    name += meetings.size() == 2 ? " and one other" : fmt::format(" and {} others", meetings.size() - 1);
    uint32_t node = draft_.add_named(Node::Kind::all_of, std::move(name));
    for (const Meeting& meeting : meetings)
      draft_.need(node, draft_.guard_node(meeting.guard), Level::ready, true, reason(meeting));
    return node;
  }

  void wait_for_set(uint32_t object, uint32_t set) {
    std::span<const Meeting> meetings = contents_.meetings_of(object);
    if (sets_[set] == kNone) sets_[set] = gate(meetings);
    draft_.need(object, sets_[set], Level::ready, true,
                meetings.size() == 1 ? reason(meetings[0]) : std::string("the guards that it meets"));
  }

  void wait_for(uint32_t object, const std::vector<Meeting>& meetings) {
    if (meetings.empty()) return;
    std::vector<uint32_t> id;
    for (const Meeting& meeting : meetings) id.push_back(meeting.guard * 2 + (meeting.by_pods ? 1 : 0));
    auto [entry, is_new] = partial_sets_.try_emplace(std::move(id), kNone);
    if (is_new) entry->second = gate(meetings);
    draft_.need(object, entry->second, Level::ready, true,
                meetings.size() == 1 ? reason(meetings[0]) : std::string("the guards that it meets"));
  }

  // A guard that fails closed and would refuse what it stands on comes last: were it there before all of that works, a
  // run that ends in between would leave a cluster that can neither be repaired nor rolled out again.
  void register_late() {
    std::unordered_set<uint64_t> seen;
    std::unordered_set<uint32_t> intercepting;
    std::unordered_set<uint64_t> writers;
    for (const Edge& edge : draft_.edges)
      if (edge.from < draft_.object_count() && draft_.family(edge.from) == Family::job)
        writers.insert(uint64_t{edge.to} << 32 | edge.from);
    for (const Exemption& exemption : contents_.exemptions) {
      const Guard& guard = contents_.guards[exemption.guard];
      if (!waits_for_stands(guard) || exemption.precedes) continue;
      intercepting.insert(exemption.guard);
      // Its certificate is put there by somebody who needs it to be there.
      if (writers.contains(uint64_t{*guard.object} << 32 | exemption.object)) continue;
      if (!seen.insert(uint64_t{*guard.object} << 32 | exemption.object).second) continue;
      draft_.need(*guard.object, exemption.object, Level::ready, true,
                  fmt::format("{} would refuse it, and stands on it", short_name(guard)));
    }
    for (uint32_t i = 0; i < contents_.guards.size(); ++i) {
      const Guard& guard = contents_.guards[i];
      if (!waits_for_stands(guard) || !guard.webhook) continue;
      for (uint32_t object : guard.stands_on) {
        bool is_service = draft_.key(object).kind == "Service" && draft_.key(object).group.empty();
        if (draft_.family(object) != Family::workload && !is_service) continue;
        std::string_view refused = refused_beside(guard, draft_.key(object).ns);
        // Without which no later run could begin to repair anything.
        if (refused.empty() && sees_record(draft_, guard)) refused = "the inventory of the bundle";
        if (refused.empty() && intercepting.contains(i)) refused = "what it stands on";
        if (!refused.empty() && seen.insert(uint64_t{*guard.object} << 32 | object).second)
          draft_.need(*guard.object, object, is_service ? Level::stored : Level::ready, true,
                      fmt::format("{} would refuse {}", short_name(guard), refused));
      }
    }
  }

  // In words; empty for nothing.
  std::string_view refused_beside(const Guard& guard, const std::string& ns) const {
    for (const ByProduct& one : kByProducts)
      if (sees(draft_, guard, one.what, ns)) return one.text;
    return {};
  }

  Draft& draft_;
  Contents& contents_;
  std::vector<uint32_t> earliest_;  // the step that each object comes with
  std::vector<uint32_t> sets_;      // the gate of each set
  std::map<std::vector<uint32_t>, uint32_t> partial_sets_;
};

}  // namespace

void add_gates(Draft& draft) { Gates(draft).run(); }

}  // namespace fairlead::graph
