#include "status/status.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "async/scope.h"
#include "graph/graph.h"
#include "readiness/why.h"
#include "status/internal/drift.h"

namespace fairlead::status {
namespace {

using inventory::Member;
using readiness::State;
using Drift = ObjectStatus::Drift;

constexpr size_t kMostPods = 10;
constexpr size_t kMostBlockers = 5;

object::Resource pods() { return {.group = "", .version = "v1", .kind = "Pod", .plural = "pods", .namespaced = true}; }
object::Resource storage_classes() {
  return {.group = "storage.k8s.io", .version = "v1", .kind = "StorageClass", .plural = "storageclasses"};
}

bool makes_pods(const object::Key& key) {
  return key.group == "apps" || (key.group == "batch" && key.kind == "Job") || (key.group.empty() && key.kind == "Pod");
}

// True if the run did not store the object, so that it is no wonder that it is not there.
bool was_not_stored(std::string_view outcome) {
  return outcome == "blocked" || outcome == "refused" || outcome == "not sent";
}
bool is_left_out(std::string_view outcome) { return outcome == "left out"; }

class Reader {
 public:
  Reader(kube::Client& client, inventory::Inventory& inventory) : client_(client), inventory_(inventory) {}

  Task<Result<BundleStatus>> read() {
    status_.name = inventory_.name();
    status_.home = inventory_.home();
    status_.last_run = history::last_run_of(inventory_);
    if (!inventory_.is_free()) status_.held_by = inventory_.claimed_by()->holder;
    kube::Outcome<inventory::Members> members = co_await inventory_.members(true);
    if (!members) co_return fail(members.error().error());
    members_ = std::move(members->found);
    for (const inventory::Unlisted& one : members->unlisted) status_.notes.push_back(one.why.message());
    co_await read_manifests();
    for (const Member& member : members_) live_.emplace(member.key, &member.object);
    add_objects();
    co_await judge();
    co_await explain();
    find_blockers();
    co_return std::move(status_);
  }

 private:
  Task<void> read_manifests() {
    std::vector<history::Revision> revisions = history::revisions_of(inventory_);
    if (revisions.empty()) {
      status_.notes.emplace_back("no manifests are kept for this bundle, so drift is not known");
      co_return;
    }
    status_.revision = revisions.front();
    Result<std::vector<history::KeptObject>> kept =
        co_await history::read_revision(client_, inventory_, revisions.front());
    has_manifests_ = kept.has_value();
    if (kept) kept_ = *std::move(kept);
    else status_.notes.push_back("drift is not known: " + kept.error().message());
  }

  // All objects of the last run in its order, then the members that it did not have.
  void add_objects() {
    inventory::Types types;
    for (const Member& member : members_)
      if (member.key.kind == "CustomResourceDefinition") types.learn(member.object);
    for (const history::KeptObject& kept : kept_)
      if (!is_left_out(kept.outcome)) status_.objects.push_back(of(kept, types));
    std::set<object::Key> known;
    for (const ObjectStatus& object : status_.objects) known.insert(object.key);
    for (const Member& member : members_)
      if (!known.contains(member.key)) status_.objects.push_back({.key = member.key, .left = has_manifests_});
  }

  ObjectStatus of(const history::KeptObject& kept, inventory::Types& types) const {
    ObjectStatus object{.key = kept.object.key(), .source = kept.object.source().text()};
    auto found = live_.find(object.key);
    if (found == live_.end()) {
      if (was_not_stored(kept.outcome)) object.not_applied = kept.outcome;
      else if (is_listed(object.key)) object.drift = Drift::gone;
      bool is_known = object.drift == Drift::gone || !object.not_applied.empty();
      object.verdict.reason =
          is_known ? "not in the cluster" : "not looked for, because the bundle's record does not cover it";
      return object;
    }
    if (was_not_stored(kept.outcome)) object.not_applied = kept.outcome;
    DriftOf bundle{.manager = inventory_.field_manager(), .label_value = inventory_.label_value()};
    auto fields = drifted_fields(kept, *found->second, bundle, types);
    if (!fields || !object.not_applied.empty()) return object;
    object.drift = fields->empty() ? Drift::none : Drift::changed;
    object.fields = *std::move(fields);
    return object;
  }

  bool is_listed(const object::Key& key) const { return inventory_.covers(key); }

  Task<void> judge() {
    std::optional<std::set<std::string>> lazy_classes;
    for (ObjectStatus& object : status_.objects) {
      auto found = live_.find(object.key);
      if (found == live_.end()) continue;
      object.verdict = readiness::judge(*found->second);
      bool may_wait_for_use = object.key.kind == "PersistentVolumeClaim" && object.verdict.state == State::in_progress;
      if (!may_wait_for_use) continue;
      if (!lazy_classes) lazy_classes = co_await read_lazy_classes();
      bool is_lazy = lazy_classes->contains(std::string((*found->second)["spec"]["storageClassName"].string_or("")));
      object.verdict = readiness::judge(*found->second, {.binds_on_first_use = is_lazy});
    }
  }

  // Returns the StorageClasses whose claims wait for a pod.
  Task<std::set<std::string>> read_lazy_classes() {
    std::set<std::string> names;
    kube::Outcome<kube::List> list = co_await client_.list(storage_classes(), {});
    if (list)
      for (const Json& one : list->items)
        if (one["volumeBindingMode"].string_or("") == "WaitForFirstConsumer")
          names.emplace(one["metadata"]["name"].string_or(""));
    co_return names;
  }

  // Reads the pods of namespaces in which a workload is not ready, and says what is wrong with them.
  Task<void> explain() {
    std::map<std::string, std::vector<Json>> by_namespace;
    for (ObjectStatus& object : status_.objects) {
      auto found = live_.find(object.key);
      if (found == live_.end() || object.is_ready() || !makes_pods(object.key)) continue;
      auto [pods_there, is_new] = by_namespace.try_emplace(object.key.ns);
      if (is_new) {
        kube::Outcome<kube::List> list = co_await client_.list(pods(), {.ns = object.key.ns});
        if (list) pods_there->second = std::move(list->items);
        else status_.notes.push_back("pods cannot be looked at: " + list.error().error().message());
      }
      explain(object, *found->second, pods_there->second);
    }
  }

  static void explain(ObjectStatus& object, const Json& workload, const std::vector<Json>& pods) {
    readiness::Objects all;
    for (const Json& pod : pods) all.push_back(&pod);
    readiness::Why why = readiness::why_not_ready(workload, all);
    object.causes = std::move(why.causes);
    object.next = std::move(why.next);
    if (object.key.kind == "Pod") return;
    for (const Json& pod : pods)
      if (readiness::belongs(pod, workload) && object.pods.size() < kMostPods)
        object.pods.push_back(
            {.name = std::string(pod["metadata"]["name"].string_or("")), .verdict = readiness::judge(pod)});
  }

  // The bundle as far as it is known, for the graph: manifests, else the live objects.
  manifest::Bundle bundle() const {
    manifest::Bundle bundle;
    for (const ObjectStatus& object : status_.objects) {
      auto kept = std::ranges::find(kept_, object.key, [](const history::KeptObject& one) { return one.object.key(); });
      if (kept != kept_.end()) {
        bundle.objects.push_back(kept->object);
        continue;
      }
      auto live = object::Object::from(*live_.at(object.key));
      if (live) bundle.objects.push_back(*std::move(live));
    }
    return bundle;
  }

  void find_blockers() {
    if (status_.is_ready()) return;
    std::unordered_map<object::Key, const ObjectStatus*> by_key;
    for (const ObjectStatus& object : status_.objects) by_key.emplace(object.key, &object);
    graph::Graph graph = graph::Graph::build(bundle(), {}, {.default_namespace = status_.home});
    std::unordered_map<object::Key, graph::NodeId> nodes;
    for (graph::NodeId node : graph.objects()) nodes.emplace(graph.key(node), node);
    auto is_unready = [&](graph::NodeId node) {
      auto found = graph.objects().contains(node) ? by_key.find(graph.key(node)) : by_key.end();
      return found != by_key.end() && !found->second->is_ready();
    };
    for (ObjectStatus& object : status_.objects) {
      auto node = nodes.find(object.key);
      if (!object.is_ready() && node != nodes.end())
        for (graph::NodeId blocker : nearest(graph, node->second, is_unready))
          object.blocked_by.push_back(graph.key(blocker));
    }
  }

  // Returns the nearest nodes for which `is` is true, through what the node needs.
  template <class Is>
  static std::vector<graph::NodeId> nearest(const graph::Graph& graph, graph::NodeId from, Is is) {
    std::vector<graph::NodeId> found, open = {from};
    std::set<graph::NodeId> seen = {from};
    for (size_t i = 0; i < open.size() && found.size() < kMostBlockers; ++i)
      for (const graph::Need& need : graph.needs_of(open[i])) {
        if (!seen.insert(need.target).second) continue;
        if (is(need.target)) found.push_back(need.target);
        else open.push_back(need.target);
      }
    return found;
  }

  kube::Client& client_;
  inventory::Inventory& inventory_;
  BundleStatus status_;
  std::vector<Member> members_;
  std::unordered_map<object::Key, const Json*> live_;
  std::vector<history::KeptObject> kept_;
  bool has_manifests_ = false;
};

}  // namespace

std::string_view name_of(Drift drift) {
  switch (drift) {
    case Drift::none: return "none";
    case Drift::changed: return "changed";
    case Drift::gone: return "gone";
    case Drift::unknown: return "unknown";
  }
  return "";
}

size_t BundleStatus::ready() const {
  return static_cast<size_t>(std::ranges::count_if(objects, &ObjectStatus::is_ready));
}

size_t BundleStatus::drifted() const {
  return static_cast<size_t>(std::ranges::count_if(objects, [](const ObjectStatus& object) {
    return object.drift == Drift::changed || object.drift == Drift::gone;
  }));
}

Task<Result<std::unique_ptr<inventory::Inventory>>> open_bundle(kube::Client& client, kube::Discovery& discovery,
                                                                std::string name, std::string home) {
  auto opened = co_await inventory::Inventory::open(client, discovery, {.name = name, .ns = home});
  if (!opened) co_return fail(opened.error().error());
  if (!(*opened)->exists())
    co_return fail(Error(ErrorKind::not_found, fmt::format("there is no bundle {} in namespace {}", name, home))
                       .next("fairlead list -A"));
  co_return *std::move(opened);
}

Task<Result<BundleStatus>> read_status(kube::Client& client, kube::Discovery& discovery, std::string name,
                                       std::string home) {
  auto inventory = co_await open_bundle(client, discovery, std::move(name), std::move(home));
  if (!inventory) co_return fail(inventory.error());
  co_return co_await Reader(client, **inventory).read();
}

}  // namespace fairlead::status
