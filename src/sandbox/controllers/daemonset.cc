// DaemonSets: a pod on every node that they may run on.
#include <fmt/format.h>

#include "sandbox/controllers/workload.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kDaemonSets{"apps", "daemonsets"};
const ResourceId kNodes{"", "nodes"};
constexpr std::string_view kRevision = "controller-revision-hash";

class DaemonSetController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kDaemonSets) add(event.place);
    if (resource == kPods)
      if (std::optional<Place> owner = owner_place(event.place, *event.object, "DaemonSet")) add(*owner);
    if (resource == kNodes)
      for (const auto& [place, set] : core().store.all(kDaemonSets)) add(place);
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr found = core().store.find(kDaemonSets, key);
    if (!found) co_return;
    if (!is_deleting(*found)) co_await match_nodes(key, *found);
    co_await write_status(key);
  }

 private:
  // Which node the pod was made for.
  static std::string node_of(const Json& pod) {
    const Json& terms =
        pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    return std::string(terms.item(0)["matchFields"].item(0)["values"].item(0).string_or(""));
  }

  bool runs_on(const Json& set, const Json& node) {
    for (const Json::Member& wanted : set["spec"]["template"]["spec"]["nodeSelector"].members())
      if (node["metadata"]["labels"][wanted.key] != wanted.value) return false;
    return true;
  }

  Task<void> match_nodes(Place key, Json set) {
    std::string revision = template_hash(set["spec"]["template"]);
    std::map<std::string, ObjectPtr> pods;
    for (ObjectPtr& pod : controlled_by(core(), kPods, set)) {
      std::string node = node_of(*pod);
      pods.emplace(std::move(node), std::move(pod));
    }
    int64_t unavailable = 0;
    std::vector<std::string> nodes;
    for (const auto& [place, node] : core().store.all(kNodes))
      if (runs_on(set, *node)) nodes.push_back(place.name);
    for (const std::string& node : nodes) {
      auto pod = pods.find(node);
      if (pod != pods.end()) {
        if (!is_ready(*pod->second) || is_deleting(*pod->second)) ++unavailable;
        continue;
      }
      ++unavailable;
      if (!co_await create_pod(key, set, node, revision)) co_return;
    }
    for (const auto& [node, pod] : pods)
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end() && !is_deleting(*pod))
        (void)co_await actor_.remove(kPods, place_of(*pod));
    if (set["spec"]["updateStrategy"]["type"].string_or("") == "OnDelete") co_return;
    int64_t allowed = std::max<int64_t>(
        1,
        resolve_amount(set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"], int64_t(nodes.size()), true));
    for (const auto& [node, pod] : pods) {
      if ((*pod)["metadata"]["labels"][kRevision].string_or("") == revision || is_deleting(*pod)) continue;
      if (unavailable >= allowed && is_ready(*pod)) continue;
      if (is_ready(*pod)) ++unavailable;
      (void)co_await actor_.remove(kPods, place_of(*pod));
    }
  }

  Task<bool> create_pod(Place key, Json set, std::string node, std::string revision) {
    Json pod = pod_from(set["spec"]["template"], set);
    pod.make("metadata").make("generateName") = key.name + "-";
    Json& labels = pod.make("metadata").make("labels");
    labels.make(kRevision) = revision;
    labels.make("pod-template-generation") = std::to_string(set["metadata"]["generation"].int_or(1));
    Json::Array fields{Json::Object{{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::Array{node}}}};
    pod.make("spec")
        .make("affinity")
        .make("nodeAffinity")
        .make("requiredDuringSchedulingIgnoredDuringExecution")
        .make("nodeSelectorTerms") = Json::Array{Json::Object{{"matchFields", std::move(fields)}}};
    Json& tolerations = pod.make("spec").make("tolerations");
    if (!tolerations.is_array()) tolerations = Json::Array{};
    for (std::string_view taint :
         {"not-ready:NoExecute", "unreachable:NoExecute", "disk-pressure:NoSchedule", "memory-pressure:NoSchedule",
          "pid-pressure:NoSchedule", "unschedulable:NoSchedule"}) {
      size_t colon = taint.find(':');
      tolerations.if_array()->push_back(
          Json::Object{{"key", fmt::format("node.kubernetes.io/{}", taint.substr(0, colon))},
                       {"operator", "Exists"},
                       {"effect", taint.substr(colon + 1)}});
    }
    Outcome<Json> created = co_await actor_.create(kPods, key.ns, std::move(pod));
    if (created) co_return true;
    record_event(core(), set, "Warning", "FailedCreate", "Error creating: " + created.error().message,
                 "daemonset-controller");
    add_after(key, std::chrono::seconds(1));
    co_return false;
  }

  Task<void> write_status(Place key) {
    ObjectPtr set = core().store.find(kDaemonSets, key);
    if (!set) co_return;
    std::string revision = template_hash((*set)["spec"]["template"]);
    int64_t desired = 0, current = 0, ready = 0, available = 0, updated = 0;
    for (const auto& [place, node] : core().store.all(kNodes))
      if (runs_on(*set, *node)) ++desired;
    Duration wait = Duration::max();
    for (const ObjectPtr& pod : controlled_by(core(), kPods, *set)) {
      if (is_deleting(*pod)) continue;
      ++current;
      if (is_ready(*pod)) ++ready;
      if (is_available(core(), *pod, (*set)["spec"]["minReadySeconds"].int_or(0), wait)) ++available;
      if ((*pod)["metadata"]["labels"][kRevision].string_or("") == revision) ++updated;
    }
    if (wait != Duration::max()) add_after(key, wait);
    Json::Object status{{"currentNumberScheduled", current},
                        {"numberMisscheduled", 0},
                        {"desiredNumberScheduled", desired},
                        {"numberReady", ready},
                        {"observedGeneration", (*set)["metadata"]["generation"]}};
    if (updated) status.append("updatedNumberScheduled", updated);
    if (available) status.append("numberAvailable", available);
    if (desired > available) status.append("numberUnavailable", desired - available);
    Json object = *set;
    object.make("status") = std::move(status);
    if (object["status"].same_as((*set)["status"])) co_return;
    Outcome<Json> written = co_await actor_.update(kDaemonSets, std::move(object), "status");
    if (!written && written.error().code == 409) add(key);
  }
};

}  // namespace

std::unique_ptr<Controller> make_daemon_set_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<DaemonSetController>(server, scope);
}

}  // namespace fairlead::sandbox
