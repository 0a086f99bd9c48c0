// Deployments: one ReplicaSet for each template, and a rolling change from one to the next.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "fields/managed_fields.h"
#include "sandbox/controllers/workload.h"
#include "sandbox/core/conditions.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kDeployments{"apps", "deployments"};
constexpr std::string_view kHash = "pod-template-hash";
constexpr std::string_view kDeploymentRevision = "deployment.kubernetes.io/revision";
constexpr std::string_view kHistory = "deployment.kubernetes.io/revision-history";
constexpr std::string_view kDeploymentController = "deployment-controller";

int64_t revision_of(const Json& object) {
  std::string_view text = object["metadata"]["annotations"][kDeploymentRevision].string_or("");
  int64_t revision = 0;
  std::from_chars(text.data(), text.data() + text.size(), revision);
  return revision;
}

Json without_hash(Json pod_template) {
  Json& labels = pod_template.make("metadata").make("labels");
  if (labels.is_object()) labels.if_object()->erase(kHash);
  return pod_template;
}

struct Bounds {
  int64_t replicas = 0, surge = 0, unavailable = 0;
};

Bounds bounds_of(const Json& deployment) {
  Bounds bounds;
  bounds.replicas = deployment["spec"]["replicas"].int_or(1);
  if (deployment["spec"]["strategy"]["type"].string_or("RollingUpdate") == "Recreate") {
    bounds.unavailable = bounds.replicas;
    return bounds;
  }
  const Json& rolling = deployment["spec"]["strategy"]["rollingUpdate"];
  bounds.surge = resolve_amount(rolling["maxSurge"], bounds.replicas, true);
  bounds.unavailable = resolve_amount(rolling["maxUnavailable"], bounds.replicas, false);
  // Something has to give, or nothing would ever move.
  if (bounds.surge == 0 && bounds.unavailable == 0) bounds.unavailable = 1;
  bounds.unavailable = std::min(bounds.unavailable, bounds.replicas);
  return bounds;
}

int64_t sum(const std::vector<ObjectPtr>& sets, std::string_view part, std::string_view field) {
  int64_t total = 0;
  for (const ObjectPtr& set : sets) total += (*set)[part][field].int_or(0);
  return total;
}

class DeploymentController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kDeployments) add(event.place);
    if (resource == kReplicaSets)
      if (std::optional<Place> owner = owner_place(event.place, *event.object, "Deployment")) add(*owner);
    // A pod that is gone may be what a Recreate waits for.
    if (resource == kPods && event.type == Event::Type::deleted)
      if (std::optional<Place> set = owner_place(event.place, *event.object, "ReplicaSet"))
        if (ObjectPtr found = core().store.find(kReplicaSets, *set))
          if (std::optional<Place> owner = owner_place(*set, *found, "Deployment")) add(*owner);
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr found = core().store.find(kDeployments, key);
    if (!found) co_return;
    const Json& deployment = *found;
    if (!is_deleting(deployment)) co_await adopt(actor_, kReplicaSets, deployment);
    if (!is_deleting(deployment) && !deployment["spec"]["paused"].bool_or(false)) co_await roll(key, deployment);
    co_await write_status(key);
  }

 private:
  struct Sets {
    ObjectPtr current;  // of the template as it is; null if there is none yet
    std::vector<ObjectPtr> old;
    std::vector<ObjectPtr> all() const {
      std::vector<ObjectPtr> list = old;
      if (current) list.push_back(current);
      return list;
    }
  };

  Sets sets_of(const Json& deployment) {
    Sets sets;
    Json wanted = without_hash(deployment["spec"]["template"]);
    for (ObjectPtr& set : controlled_by(core(), kReplicaSets, deployment)) {
      if (!sets.current && without_hash((*set)["spec"]["template"]).same_as(wanted)) sets.current = std::move(set);
      else sets.old.push_back(std::move(set));
    }
    return sets;
  }

  Task<void> roll(Place key, Json deployment) {
    Sets sets = sets_of(deployment);
    Bounds bounds = bounds_of(deployment);
    bool recreate = deployment["spec"]["strategy"]["type"].string_or("") == "Recreate";
    if (recreate && (sum(sets.old, "spec", "replicas") > 0 || has_pods(sets.old))) {
      for (const ObjectPtr& set : sets.old) co_await scale(deployment, *set, 0, bounds);
      co_return;
    }
    if (!sets.current) {
      int64_t first = std::min(
          bounds.replicas, std::max<int64_t>(0, bounds.replicas + bounds.surge - sum(sets.old, "spec", "replicas")));
      co_await create_set(key, deployment, sets, first, bounds);
      co_return;
    }
    if (int64_t newest = newest_revision(sets.old); revision_of(*sets.current) <= newest) {
      // Its change leads here again.
      co_await renumber(*sets.current, newest + 1);
      co_return;
    }
    int64_t have = (*sets.current)["spec"]["replicas"].int_or(0);
    if (have > bounds.replicas) {
      co_await scale(deployment, *sets.current, bounds.replicas, bounds);
    } else if (have < bounds.replicas) {
      int64_t room = bounds.replicas + bounds.surge - sum(sets.all(), "spec", "replicas");
      if (room > 0) co_await scale(deployment, *sets.current, have + std::min(room, bounds.replicas - have), bounds);
    }
    co_await shrink_old(deployment, bounds);
    co_await forget_oldest(deployment);
  }

  static int64_t newest_revision(const std::vector<ObjectPtr>& sets) {
    int64_t newest = 0;
    for (const ObjectPtr& set : sets) newest = std::max(newest, revision_of(*set));
    return newest;
  }

  // An old template that has come back is the newest revision, and keeps the numbers that it had.
  Task<void> renumber(const Json& set, int64_t revision) {
    std::string_view had = set["metadata"]["annotations"][kHistory].string_or("");
    std::string history = had.empty() ? "" : fmt::format("{},", had);
    history += set["metadata"]["annotations"][kDeploymentRevision].string_or("");
    Json annotations =
        Json::Object{{std::string(kDeploymentRevision), std::to_string(revision)}, {std::string(kHistory), history}};
    (void)co_await actor_.patch(kReplicaSets, place_of(set),
                                Json::Object{{"metadata", Json::Object{{"annotations", std::move(annotations)}}}});
  }

  bool has_pods(const std::vector<ObjectPtr>& sets) {
    for (const ObjectPtr& set : sets)
      for (const ObjectPtr& pod : controlled_by(core(), kPods, *set)) {
        std::string_view phase = (*pod)["status"]["phase"].string_or("");
        if (phase != "Succeeded" && phase != "Failed") return true;
      }
    return false;
  }

  // Old pods that are no use go at once; those that serve go as the new ones come.
  Task<void> shrink_old(Json deployment, Bounds bounds) {
    Sets sets = sets_of(deployment);
    if (!sets.current) co_return;
    int64_t unavailable_new =
        (*sets.current)["spec"]["replicas"].int_or(0) - (*sets.current)["status"]["availableReplicas"].int_or(0);
    int64_t spare = sum(sets.all(), "spec", "replicas") - (bounds.replicas - bounds.unavailable) - unavailable_new;
    for (const ObjectPtr& set : sets.old) {
      int64_t replicas = (*set)["spec"]["replicas"].int_or(0);
      if (spare <= 0 || replicas == 0) continue;
      int64_t useless = replicas - (*set)["status"]["availableReplicas"].int_or(0);
      int64_t serving = sum(sets.all(), "status", "availableReplicas") - (bounds.replicas - bounds.unavailable);
      int64_t gone = std::min({replicas, spare, std::max<int64_t>(useless, 0) + std::max<int64_t>(serving, 0)});
      if (gone <= 0) continue;
      spare -= gone;
      co_await scale(deployment, *set, replicas - gone, bounds);
    }
  }

  Task<void> forget_oldest(Json deployment) {
    Sets sets = sets_of(deployment);
    int64_t limit = deployment["spec"]["revisionHistoryLimit"].int_or(10);
    std::vector<ObjectPtr> idle;
    for (const ObjectPtr& set : sets.old)
      if ((*set)["spec"]["replicas"].int_or(0) == 0 && (*set)["status"]["replicas"].int_or(0) == 0 &&
          !is_deleting(*set))
        idle.push_back(set);
    std::sort(idle.begin(), idle.end(),
              [](const ObjectPtr& a, const ObjectPtr& b) { return revision_of(*a) < revision_of(*b); });
    for (size_t i = 0; int64_t(idle.size()) - int64_t(i) > limit; ++i)
      (void)co_await actor_.remove(kReplicaSets, place_of(*idle[i]));
  }

  static void annotate(Json& set, const Bounds& bounds) {
    Json& annotations = set.make("metadata").make("annotations");
    annotations.make("deployment.kubernetes.io/desired-replicas") = std::to_string(bounds.replicas);
    annotations.make("deployment.kubernetes.io/max-replicas") = std::to_string(bounds.replicas + bounds.surge);
  }

  Task<void> create_set(Place key, Json deployment, Sets sets, int64_t replicas, Bounds bounds) {
    int64_t revision = newest_revision(sets.old);
    std::string hash = template_hash(deployment["spec"]["template"]);
    Json pod_template = deployment["spec"]["template"];
    pod_template.make("metadata").make("labels").make(kHash) = hash;
    Json selector = deployment["spec"]["selector"];
    selector.make("matchLabels").make(kHash) = hash;
    Json set = Json::Object{
        {"apiVersion", "apps/v1"},
        {"kind", "ReplicaSet"},
        {"metadata", Json::Object{{"name", key.name + "-" + hash},
                                  {"labels", pod_template["metadata"]["labels"]},
                                  {"ownerReferences", Json::Array{owner_reference(deployment)}}}},
        {"spec", Json::Object{{"replicas", replicas}, {"selector", selector}, {"template", pod_template}}}};
    for (const Json::Member& one : deployment["metadata"]["annotations"].members())
      if (one.key != kDeploymentRevision && one.key != "kubectl.kubernetes.io/last-applied-configuration")
        set.make("metadata").make("annotations").make(one.key) = one.value;
    annotate(set, bounds);
    set.make("metadata").make("annotations").make(kDeploymentRevision) = std::to_string(revision + 1);
    if (deployment["spec"].contains("minReadySeconds"))
      set.make("spec").make("minReadySeconds") = deployment["spec"]["minReadySeconds"];
    Outcome<Json> created = co_await actor_.create(kReplicaSets, key.ns, std::move(set));
    if (!created) {
      if (created.error().code != 409) add_after(key, std::chrono::seconds(1));
      co_return;
    }
    created_[uid_of(deployment)] = std::string((*created)["metadata"]["name"].string_or(""));
    if (replicas > 0)
      record_event(
          core(), deployment, "Normal", "ScalingReplicaSet",
          fmt::format("Scaled up replica set {} from 0 to {}", (*created)["metadata"]["name"].string_or(""), replicas),
          kDeploymentController);
  }

  Task<void> scale(Json deployment, Json set, int64_t replicas, Bounds bounds) {
    int64_t before = set["spec"]["replicas"].int_or(0);
    if (before == replicas) co_return;
    set.make("spec").make("replicas") = replicas;
    annotate(set, bounds);
    std::string name(set["metadata"]["name"].string_or(""));
    Outcome<Json> written = co_await actor_.update(kReplicaSets, std::move(set));
    if (!written) {
      if (written.error().code == 409) add(place_of(deployment));
      co_return;
    }
    record_event(core(), deployment, "Normal", "ScalingReplicaSet",
                 fmt::format("Scaled {} replica set {} from {} to {}", replicas > before ? "up" : "down", name, before,
                             replicas),
                 kDeploymentController);
  }

  Json condition(std::string_view type, bool status, std::string_view reason, std::string message) {
    return Json::Object{{"type", type},
                        {"status", status ? "True" : "False"},
                        {"lastUpdateTime", core().now_text()},
                        {"lastTransitionTime", core().now_text()},
                        {"reason", reason},
                        {"message", std::move(message)}};
  }

  // The same reason and status again is no news, and changes no time.
  static void update_condition(Json& object, Json wanted) {
    const Json* found = find_condition(object, wanted["type"].string_or(""));
    if (found && (*found)["status"] == wanted["status"] && (*found)["reason"] == wanted["reason"] &&
        (*found)["message"] == wanted["message"])
      return;
    set_condition(object, std::move(wanted));
  }

  Task<void> write_status(Place key) {
    ObjectPtr found = core().store.find(kDeployments, key);
    if (!found) co_return;
    Sets sets = sets_of(*found);
    Bounds bounds = bounds_of(*found);
    std::vector<ObjectPtr> all = sets.all();
    int64_t total = sum(all, "status", "replicas"), available = sum(all, "status", "availableReplicas");
    int64_t updated = sets.current ? (*sets.current)["status"]["replicas"].int_or(0) : 0;
    int64_t unavailable = std::max<int64_t>(0, sum(all, "spec", "replicas") - available);
    const Json& before = (*found)["status"];
    Json object = *found;
    Json::Object status{{"observedGeneration", (*found)["metadata"]["generation"]}};
    if (total) status.append("replicas", total);
    if (updated) status.append("updatedReplicas", updated);
    if (int64_t ready = sum(all, "status", "readyReplicas")) status.append("readyReplicas", ready);
    if (available) status.append("availableReplicas", available);
    if (unavailable) status.append("unavailableReplicas", unavailable);
    status.append("terminatingReplicas", sum(all, "status", "terminatingReplicas"));
    if (before.contains("conditions")) status.append("conditions", before["conditions"]);
    bool progressed = total != before["replicas"].int_or(0) || updated != before["updatedReplicas"].int_or(0) ||
                      available > before["availableReplicas"].int_or(0);
    object.make("status") = std::move(status);
    if (available >= bounds.replicas - bounds.unavailable)
      update_condition(
          object, condition("Available", true, "MinimumReplicasAvailable", "Deployment has minimum availability."));
    else
      update_condition(object, condition("Available", false, "MinimumReplicasUnavailable",
                                         "Deployment does not have minimum availability."));
    bool complete = updated == bounds.replicas && total == bounds.replicas && available == bounds.replicas;
    set_progress(key, object, sets, complete, progressed);
    carry_failure(object, sets);
    if (sets.current) {
      Json& annotations = object.make("metadata").make("annotations");
      annotations.make(kDeploymentRevision) = (*sets.current)["metadata"]["annotations"][kDeploymentRevision];
    }
    if (object.same_as(*found)) co_return;
    Outcome<Json> written = co_await actor_.update(kDeployments, std::move(object), "status");
    if (!written && written.error().code == 409) add(key);
  }

  void set_progress(const Place& key, Json& object, const Sets& sets, bool complete, bool progressed) {
    int64_t deadline = object["spec"]["progressDeadlineSeconds"].int_or(600);
    if (!sets.current || deadline >= INT32_MAX) return;
    std::string name((*sets.current)["metadata"]["name"].string_or(""));
    const Json* now = find_condition(object, "Progressing");
    if (complete) {
      update_condition(object, condition("Progressing", true, "NewReplicaSetAvailable",
                                         fmt::format("ReplicaSet \"{}\" has successfully progressed.", name)));
      return;
    }
    auto fresh = created_.find(uid_of(object));
    if (fresh != created_.end()) {
      if (fresh->second == name)
        set_condition(object, condition("Progressing", true, "NewReplicaSetCreated",
                                        fmt::format("Created new replica set \"{}\"", name)));
      created_.erase(fresh);
    } else if (!now || progressed) {
      // Every step forward starts the time anew.
      set_condition(object, condition("Progressing", true, "ReplicaSetUpdated",
                                      fmt::format("ReplicaSet \"{}\" is progressing.", name)));
    } else if ((*now)["status"].string_or("") == "True" && (*now)["reason"].string_or("") != "NewReplicaSetAvailable") {
      std::optional<std::chrono::sys_seconds> since = fields::parse_time((*now)["lastUpdateTime"].string_or(""));
      Duration left =
          since ? WallTime(*since) + std::chrono::seconds(deadline) - core().loop.clock().wall_now() : Duration::zero();
      if (left > Duration::zero()) add_after(key, left);
      else
        set_condition(object, condition("Progressing", false, "ProgressDeadlineExceeded",
                                        fmt::format("ReplicaSet \"{}\" has timed out progressing.", name)));
    }
    if (const Json* kept = find_condition(object, "Progressing"); kept && (*kept)["status"].string_or("") == "True")
      add_after(key, std::chrono::seconds(deadline + 1));
  }

  void carry_failure(Json& object, const Sets& sets) {
    const Json* failure = nullptr;
    for (const ObjectPtr& set : sets.all())
      if (const Json* one = find_condition(*set, "ReplicaFailure")) failure = one;
    if (!failure) {
      if (find_condition(object, "ReplicaFailure")) drop_condition(object, "ReplicaFailure");
      return;
    }
    update_condition(object, condition("ReplicaFailure", true, (*failure)["reason"].string_or(""),
                                       std::string((*failure)["message"].string_or(""))));
  }

  // The ReplicaSet that was just made for a Deployment, by its uid: its conditions say so once.
  std::map<std::string, std::string> created_;
};

}  // namespace

std::unique_ptr<Controller> make_deployment_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<DeploymentController>(server, scope);
}

}  // namespace fairlead::sandbox
