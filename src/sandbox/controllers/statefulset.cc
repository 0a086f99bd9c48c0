// StatefulSets: pods by number, one after the other, each with its own claims.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sandbox/controllers/workload.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kStatefulSets{"apps", "statefulsets"};
constexpr std::string_view kRevisionHash = "controller-revision-hash";

int64_t ordinal_of(const Json& pod) {
  std::string_view name = pod["metadata"]["name"].string_or("");
  size_t dash = name.rfind('-');
  int64_t number = -1;
  if (dash != std::string_view::npos) std::from_chars(name.data() + dash + 1, name.data() + name.size(), number);
  return number;
}

class StatefulSetController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kStatefulSets) add(event.place);
    if (resource == kPods)
      if (std::optional<Place> owner = owner_place(event.place, *event.object, "StatefulSet")) add(*owner);
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr found = core().store.find(kStatefulSets, key);
    if (!found) co_return;
    if (!is_deleting(*found)) co_await match_replicas(key, *found);
    co_await write_status(key);
  }

 private:
  static std::string revision_of(const Json& set) {
    return fmt::format("{}-{}", set["metadata"]["name"].string_or(""), template_hash(set["spec"]["template"]));
  }

  Task<void> match_replicas(Place key, Json set) {
    int64_t wanted = set["spec"]["replicas"].int_or(1);
    bool parallel = set["spec"]["podManagementPolicy"].string_or("") == "Parallel";
    std::string revision = revision_of(set);
    std::map<int64_t, ObjectPtr> pods;
    for (ObjectPtr& pod : controlled_by(core(), kPods, set)) {
      int64_t number = ordinal_of(*pod);
      pods.emplace(number, std::move(pod));
    }
    for (int64_t number = 0; number < wanted; ++number) {
      auto pod = pods.find(number);
      if (pod == pods.end()) {
        if (!co_await create_pod(key, set, number, revision)) co_return;
        if (!parallel) co_return;
      } else if (!parallel && (!is_ready(*pod->second) || is_deleting(*pod->second))) {
        // The next one waits for this one.
        co_return;
      }
    }
    for (auto pod = pods.rbegin(); pod != pods.rend() && pod->first >= wanted; ++pod) {
      if (!is_deleting(*pod->second)) (void)co_await actor_.remove(kPods, place_of(*pod->second));
      if (!parallel) co_return;
    }
    co_await update_one(set, pods, revision);
  }

  // From the last to the first, one at a time; those below the partition stay as they are.
  Task<void> update_one(Json set, std::map<int64_t, ObjectPtr> pods, std::string revision) {
    if (set["spec"]["updateStrategy"]["type"].string_or("") == "OnDelete") co_return;
    int64_t partition = set["spec"]["updateStrategy"]["rollingUpdate"]["partition"].int_or(0);
    for (const auto& [number, pod] : pods)
      if (!is_ready(*pod) || is_deleting(*pod)) co_return;
    for (auto pod = pods.rbegin(); pod != pods.rend() && pod->first >= partition; ++pod) {
      if ((*pod->second)["metadata"]["labels"][kRevisionHash].string_or("") == revision) continue;
      (void)co_await actor_.remove(kPods, place_of(*pod->second));
      co_return;
    }
  }

  Task<bool> create_pod(Place key, Json set, int64_t number, std::string revision) {
    std::string name = fmt::format("{}-{}", key.name, number);
    Json pod = pod_from(set["spec"]["template"], set);
    Json& metadata = pod.make("metadata");
    metadata.make("generateName") = key.name + "-";
    metadata.make("name") = name;
    Json& labels = metadata.make("labels");
    labels.make("apps.kubernetes.io/pod-index") = std::to_string(number);
    labels.make(kRevisionHash) = revision;
    labels.make("statefulset.kubernetes.io/pod-name") = name;
    Json& spec = pod.make("spec");
    spec.make("hostname") = name;
    spec.make("subdomain") = set["spec"]["serviceName"];
    if (spec["subdomain"].is_null()) spec.if_object()->erase("subdomain");
    for (const Json& claim : set["spec"]["volumeClaimTemplates"].items()) {
      std::string claim_name = fmt::format("{}-{}", claim["metadata"]["name"].string_or(""), name);
      Json& volumes = spec.make("volumes");
      if (!volumes.is_array()) volumes = Json::Array{};
      volumes.if_array()->push_back(Json::Object{{"name", claim["metadata"]["name"]},
                                                 {"persistentVolumeClaim", Json::Object{{"claimName", claim_name}}}});
      if (core().store.find(kClaims, {key.ns, claim_name})) continue;
      Json its_labels = set["spec"]["selector"]["matchLabels"];
      Outcome<Json> made = co_await actor_.create(
          kClaims, key.ns,
          Json::Object{{"apiVersion", "v1"},
                       {"kind", "PersistentVolumeClaim"},
                       {"metadata", Json::Object{{"name", claim_name}, {"labels", std::move(its_labels)}}},
                       {"spec", claim["spec"]}});
      if (!made && made.error().code != 409) {
        add_after(key, std::chrono::seconds(1));
        co_return false;
      }
    }
    Outcome<Json> created = co_await actor_.create(kPods, key.ns, std::move(pod));
    if (!created) {
      record_event(
          core(), set, "Warning", "FailedCreate",
          fmt::format("create Pod {} in StatefulSet {} failed error: {}", name, key.name, created.error().message),
          "statefulset-controller");
      add_after(key, std::chrono::seconds(1));
      co_return false;
    }
    record_event(core(), set, "Normal", "SuccessfulCreate",
                 fmt::format("create Pod {} in StatefulSet {} successful", name, key.name), "statefulset-controller");
    co_return true;
  }

  Task<void> write_status(Place key) {
    ObjectPtr set = core().store.find(kStatefulSets, key);
    if (!set) co_return;
    std::string revision = revision_of(*set);
    int64_t replicas = 0, ready = 0, available = 0, updated = 0;
    Duration wait = Duration::max();
    for (const ObjectPtr& pod : controlled_by(core(), kPods, *set)) {
      ++replicas;
      if (is_deleting(*pod)) continue;
      if (is_ready(*pod)) ++ready;
      if (is_available(core(), *pod, (*set)["spec"]["minReadySeconds"].int_or(0), wait)) ++available;
      if ((*pod)["metadata"]["labels"][kRevisionHash].string_or("") == revision) ++updated;
    }
    if (wait != Duration::max()) add_after(key, wait);
    int64_t wanted = (*set)["spec"]["replicas"].int_or(1);
    std::string current((*set)["status"]["currentRevision"].string_or(""));
    // The change is over when every pod has the new revision and is ready.
    if (current.empty() || (updated == wanted && ready == wanted && replicas == wanted)) current = revision;
    Json::Object status{{"observedGeneration", (*set)["metadata"]["generation"]}, {"replicas", replicas}};
    if (ready) status.append("readyReplicas", ready);
    if (int64_t of_current = current == revision ? updated : replicas - updated)
      status.append("currentReplicas", of_current);
    if (updated) status.append("updatedReplicas", updated);
    status.append("currentRevision", current);
    status.append("updateRevision", revision);
    status.append("collisionCount", 0);
    status.append("availableReplicas", available);
    Json object = *set;
    object.make("status") = std::move(status);
    if (object["status"].same_as((*set)["status"])) co_return;
    Outcome<Json> written = co_await actor_.update(kStatefulSets, std::move(object), "status");
    if (!written && written.error().code == 409) add(key);
  }
};

}  // namespace

std::unique_ptr<Controller> make_stateful_set_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<StatefulSetController>(server, scope);
}

}  // namespace fairlead::sandbox
