// ReplicaSets: as many pods as they want.
#include <fmt/format.h>

#include <algorithm>

#include "sandbox/controllers/workload.h"
#include "sandbox/core/conditions.h"

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kReplicaSetController = "replicaset-controller";

class ReplicaSetController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kReplicaSets) add(event.place);
    if (resource == kPods)
      if (std::optional<Place> owner = owner_place(event.place, *event.object, "ReplicaSet")) add(*owner);
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr set = core().store.find(kReplicaSets, key);
    if (!set) co_return;
    std::string failure;
    if (!is_deleting(*set)) {
      co_await adopt(actor_, kPods, *set);
      failure = co_await match_replicas(key, *set);
    }
    co_await write_status(key, failure);
    if (!failure.empty()) add_after(key, retry_after(key));
    else failures_.erase(key);
  }

 private:
  // What stood in the way of a new pod; empty if nothing did.
  Task<std::string> match_replicas(Place key, Json set) {
    std::vector<ObjectPtr> active;
    for (ObjectPtr& pod : controlled_by(core(), kPods, set))
      if (is_active(*pod)) active.push_back(std::move(pod));
    int64_t wanted = set["spec"]["replicas"].int_or(1);
    for (int64_t have = int64_t(active.size()); have < wanted; ++have) {
      Json pod = pod_from(set["spec"]["template"], set);
      pod.make("metadata").make("generateName") = key.name + "-";
      Outcome<Json> created = co_await actor_.create(kPods, key.ns, std::move(pod));
      if (!created) {
        record_event(core(), set, "Warning", "FailedCreate", "Error creating: " + created.error().message,
                     kReplicaSetController);
        co_return created.error().message;
      }
      record_event(core(), set, "Normal", "SuccessfulCreate",
                   fmt::format("Created pod: {}", (*created)["metadata"]["name"].string_or("")), kReplicaSetController);
    }
    if (int64_t(active.size()) > wanted) {
      // Those that are of least use go first: not ready before ready, the youngest before the oldest.
      std::sort(active.begin(), active.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
        if (is_ready(*a) != is_ready(*b)) return !is_ready(*a);
        return (*a)["metadata"]["creationTimestamp"].string_or("") >
               (*b)["metadata"]["creationTimestamp"].string_or("");
      });
      for (size_t i = 0; i < active.size() - size_t(wanted); ++i) {
        (void)co_await actor_.remove(kPods, place_of(*active[i]));
        record_event(core(), set, "Normal", "SuccessfulDelete",
                     fmt::format("Deleted pod: {}", (*active[i])["metadata"]["name"].string_or("")),
                     kReplicaSetController);
      }
    }
    co_return std::string();
  }

  Task<void> write_status(Place key, std::string failure) {
    ObjectPtr set = core().store.find(kReplicaSets, key);
    if (!set) co_return;
    int64_t replicas = 0, labeled = 0, ready = 0, available = 0, terminating = 0;
    Duration wait = Duration::max();
    int64_t min_ready = (*set)["spec"]["minReadySeconds"].int_or(0);
    for (const ObjectPtr& pod : controlled_by(core(), kPods, *set)) {
      if (is_terminating(*pod)) ++terminating;
      if (!is_active(*pod)) continue;
      ++replicas;
      ++labeled;
      if (is_ready(*pod)) ++ready;
      if (is_available(core(), *pod, min_ready, wait)) ++available;
    }
    if (wait != Duration::max()) add_after(key, wait);
    Json object = *set;
    Json::Object status{{"replicas", replicas}};
    if (labeled) status.append("fullyLabeledReplicas", labeled);
    if (ready) status.append("readyReplicas", ready);
    if (available) status.append("availableReplicas", available);
    status.append("terminatingReplicas", terminating);
    status.append("observedGeneration", (*set)["metadata"]["generation"]);
    if ((*set)["status"].contains("conditions")) status.append("conditions", (*set)["status"]["conditions"]);
    object.make("status") = std::move(status);
    if (!failure.empty())
      set_condition(object, Json::Object{{"type", "ReplicaFailure"},
                                         {"status", "True"},
                                         {"lastTransitionTime", core().now_text()},
                                         {"reason", "FailedCreate"},
                                         {"message", failure}});
    else if (find_condition(object, "ReplicaFailure")) drop_condition(object, "ReplicaFailure");
    if (object["status"]["conditions"].is_array() && object["status"]["conditions"].items().empty())
      object.make("status").if_object()->erase("conditions");
    if (object["status"].same_as((*set)["status"])) co_return;
    Outcome<Json> written = co_await actor_.update(kReplicaSets, std::move(object), "status");
    if (!written && written.error().code == 409) add(key);
  }

  // 5 ms, 10 ms, ... as client-go's rate limiter has it, up to 1000 s.
  Duration retry_after(const Place& key) {
    int& count = failures_[key];
    Duration after = std::chrono::milliseconds(5) * (int64_t{1} << std::min(count, 17));
    ++count;
    return std::min<Duration>(after, std::chrono::seconds(1000));
  }

  std::map<Place, int> failures_;
};

}  // namespace

std::unique_ptr<Controller> make_replica_set_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<ReplicaSetController>(server, scope);
}

}  // namespace fairlead::sandbox
