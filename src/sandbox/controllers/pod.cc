// Pods: bound to a node, started, ready, ended, gone; or not, where an annotation says so. The scheduler and the
// kubelets.
//
// Annotations, all `sandbox.fairlead.dev/...`: scheduled-after, started-after, ready-after, listens-after,
// stopped-after and runs-for (durations: "250ms", "2s"); fail: unschedulable, image-pull, crash-loop or never-ready;
// exit-code. What containers write is in `logs` (verbs/pod_log.h).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sandbox/controllers/workload.h"
#include "sandbox/core/conditions.h"
#include "sandbox/kinds/pod_needs.h"

namespace fairlead::sandbox {
namespace {

class PodController final : public Controller {
 public:
  PodController(ApiServer& server, Scope& scope) : Controller(server, scope, "kubelet") {}

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kPods) {
      if (event.type == Event::Type::deleted) {
        core().listening_from.erase(uid_of(*event.object));
        progress_.erase(uid_of(*event.object));
        return;
      }
      add_after(event.place, Duration::zero());
    } else if (resource.group.empty() && event.type == Event::Type::added &&
               (resource.resource == "secrets" || resource.resource == "configmaps")) {
      wake_waiting(event.place.ns);
    } else if (resource == ResourceId{"", "persistentvolumeclaims"} || resource == ResourceId{"", "nodes"}) {
      wake_waiting(event.place.ns);
    }
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr found = core().store.find(kPods, key);
    if (!found) co_return;
    const Json& pod = *found;
    Progress& progress = progress_[uid_of(pod)];
    if (is_deleting(pod)) {
      if (due(key, progress.stop_at, delay_of(pod, "stopped-after", stop_delay(pod)))) co_await finish(key, pod);
      co_return;
    }
    std::string_view phase = pod["status"]["phase"].string_or("");
    if (phase == "Succeeded" || phase == "Failed") co_return;
    std::string_view node = pod["spec"]["nodeName"].string_or("");
    // Without nodes there is nobody who would schedule or run anything.
    if (core().store.all({"", "nodes"}).empty()) co_return;
    if (!node.empty() && !core().find("", "nodes", "", node)) co_return;
    if (node.empty()) {
      if (due(key, progress.schedule_at, delay_of(pod, "scheduled-after", delays().pod_scheduled))) bind(key, pod);
      co_return;
    }
    if (phase == "Pending") {
      if (due(key, progress.start_at, delay_of(pod, "started-after", delays().pod_started))) co_await start(key, pod);
      co_return;
    }
    if (annotation(pod, "fail") == "crash-loop") {
      co_await crash(key, pod, progress);
      co_return;
    }
    if (pod["spec"]["restartPolicy"].string_or("Always") != "Always") {
      if (due(key, progress.end_at, delay_of(pod, "runs-for", delays().job_run))) co_await end(key, pod);
      co_return;
    }
    if (!is_ready(pod) && annotation(pod, "fail") != "never-ready" &&
        due(key, progress.ready_at, delay_of(pod, "ready-after", delays().pod_ready)))
      co_await become_ready(key, pod);
  }

 private:
  // When the next step of a pod is due; set when it is first seen to be next.
  struct Progress {
    std::optional<TimePoint> schedule_at, start_at, ready_at, end_at, stop_at, crash_at;
  };

  // Whether the time has come; if not, the pod is looked at again then.
  bool due(const Place& key, std::optional<TimePoint>& at, Duration after) {
    if (!at) at = core().loop.now() + after;
    if (*at <= core().loop.now()) return true;
    add_after(key, *at - core().loop.now());
    return false;
  }

  void wake_waiting(const std::string& ns) {
    for (const auto& [place, pod] : core().store.all(kPods))
      if ((ns.empty() || place.ns == ns) && (*pod)["status"]["phase"].string_or("") == "Pending")
        add_after(place, Duration::zero());
  }

  Duration stop_delay(const Json& pod) {
    Duration grace = std::chrono::seconds(pod["metadata"]["deletionGracePeriodSeconds"].int_or(30));
    return std::min(grace, delays().pod_stopped);
  }

  Json condition(std::string_view type, bool status, std::string_view reason = {}, std::string message = {}) {
    Json::Object object{{"type", type},
                        {"status", status ? "True" : "False"},
                        {"lastProbeTime", nullptr},
                        {"lastTransitionTime", core().now_text()}};
    if (!reason.empty()) object.append("reason", reason);
    if (!message.empty()) object.append("message", std::move(message));
    return object;
  }

  // As the scheduler does it, through the binding of the pod: nobody owns the field.
  void bind(const Place& key, const Json& pod) {
    Scheduling scheduling = schedule(core(), pod);
    if (annotation(pod, "fail") == "unschedulable") scheduling = {"", "0/1 nodes are available: 1 Insufficient cpu."};
    Json object = pod;
    if (scheduling.node.empty()) {
      const Json* before = find_condition(pod, "PodScheduled");
      if (before && (*before)["message"].string_or("") == scheduling.problem) return;
      set_condition(object, condition("PodScheduled", false, "Unschedulable", scheduling.problem));
      record_event(core(), pod, "Warning", "FailedScheduling", scheduling.problem, "default-scheduler");
    } else {
      object.make("spec").make("nodeName") = scheduling.node;
      set_condition(object, condition("PodScheduled", true));
      record_event(core(), pod, "Normal", "Scheduled",
                   fmt::format("Successfully assigned {}/{} to {}", key.ns, key.name, scheduling.node),
                   "default-scheduler");
    }
    core().store.put(kPods, key, std::move(object));
  }

  std::string address_for(const Json& pod) {
    std::string_view node = pod["spec"]["nodeName"].string_or("");
    size_t index = 0;
    for (const auto& [place, object] : core().store.all({"", "nodes"})) {
      if (place.name == node) break;
      ++index;
    }
    uint64_t number = 2 + next_address_++ % 250;
    return fmt::format("10.244.{}.{}", index + (next_address_ / 250) * 16 % 240, number);
  }

  Json container_statuses(const Json& pod, const Json& state, bool ready, bool started, int64_t restarts = 0) {
    Json::Array list;
    for (const Json& container : pod["spec"]["containers"].items())
      list.push_back(Json::Object{{"name", container["name"]},
                                  {"state", state},
                                  {"lastState", Json::Object{}},
                                  {"ready", ready},
                                  {"restartCount", restarts},
                                  {"image", container["image"]},
                                  {"imageID", ""},
                                  {"started", started}});
    return list;
  }

  Json waiting(std::string_view reason, std::string message = {}) {
    Json::Object state{{"reason", reason}};
    if (!message.empty()) state.append("message", std::move(message));
    return Json::Object{{"waiting", std::move(state)}};
  }

  void set_conditions(Json& object, bool ready) {
    constexpr std::string_view kNotReady = "ContainersNotReady";
    std::vector<std::string> names;
    for (const Json& container : object["spec"]["containers"].items())
      names.emplace_back(container["name"].string_or(""));
    std::string message = ready ? "" : fmt::format("containers with unready status: [{}]", fmt::join(names, " "));
    set_condition(object, condition("PodReadyToStartContainers", true));
    set_condition(object, condition("Initialized", true));
    set_condition(object, condition("Ready", ready, ready ? "" : kNotReady, message));
    set_condition(object, condition("ContainersReady", ready, ready ? "" : kNotReady, message));
  }

  Task<void> write(Place key, Json object) {
    Outcome<Json> written = co_await actor_.update(kPods, std::move(object), "status");
    if (!written && written.error().code != 404) add_after(key, delays().controller);
  }

  // The pod has its network before its images are pulled and its containers are made, and keeps its address.
  void set_addresses(Json& object) {
    Json& status = object.make("status");
    if (!status["podIP"].string_or("").empty()) return;
    std::string address = address_for(object);
    status.make("hostIP") = "172.18.0.2";
    status.make("hostIPs") = Json::Array{Json::Object{{"ip", "172.18.0.2"}}};
    status.make("podIP") = address;
    status.make("podIPs") = Json::Array{Json::Object{{"ip", address}}};
    status.make("startTime") = core().now_text();
  }

  Task<void> start(Place key, Json pod) {
    Json object = pod;
    if (annotation(pod, "fail") == "image-pull") {
      set_addresses(object);
      std::string image(pod["spec"]["containers"].item(0)["image"].string_or(""));
      object.make("status").make("containerStatuses") = container_statuses(
          pod,
          waiting("ImagePullBackOff", fmt::format("Back-off pulling image \"{}\": ErrImagePull: not found", image)),
          false, false);
      set_conditions(object, false);
      if (object.same_as(pod)) co_return;
      record_event(core(), pod, "Warning", "Failed", fmt::format("Failed to pull image \"{}\": not found", image),
                   "kubelet");
      co_await write(key, std::move(object));
      co_return;
    }
    if (std::optional<Missing> missing = missing_for(core(), pod)) {
      if (!missing->volume) set_addresses(object);
      object.make("status").make("containerStatuses") = container_statuses(
          pod, missing->volume ? waiting("ContainerCreating") : waiting("CreateContainerConfigError", missing->what),
          false, false);
      set_conditions(object, false);
      if (object["status"].same_as(pod["status"])) co_return;
      record_event(core(), pod, "Warning", missing->volume ? "FailedMount" : "Failed", missing->what, "kubelet");
      co_await write(key, std::move(object));
      co_return;
    }
    set_addresses(object);
    bool ready = annotation(pod, "fail").empty() &&
                 delay_of(pod, "ready-after", delays().pod_ready) == Duration::zero() &&
                 pod["spec"]["restartPolicy"].string_or("Always") == "Always";
    Json running = Json::Object{{"running", Json::Object{{"startedAt", core().now_text()}}}};
    Json& status = object.make("status");
    status.make("phase") = "Running";
    status.make("containerStatuses") = container_statuses(pod, running, ready, true);
    // Containers of a Job's pod count as ready while they run.
    bool runs_once = pod["spec"]["restartPolicy"].string_or("Always") != "Always";
    set_conditions(object, ready || runs_once);
    if (ready) note_listening(pod);
    record_event(core(), pod, "Normal", "Started", "Container started", "kubelet");
    co_await write(key, std::move(object));
  }

  void note_listening(const Json& pod) {
    core().listening_from[uid_of(pod)] = core().loop.now() + delay_of(pod, "listens-after", delays().pod_listening);
  }

  Task<void> become_ready(Place key, Json pod) {
    Json object = pod;
    Json& statuses = object.make("status").make("containerStatuses");
    if (Json::Array* list = statuses.if_array())
      for (Json& one : *list) one.make("ready") = true;
    set_conditions(object, true);
    note_listening(pod);
    co_await write(key, std::move(object));
  }

  Task<void> crash(Place key, Json pod, Progress& progress) {
    const Json& first = pod["status"]["containerStatuses"].item(0);
    int64_t restarts = first["restartCount"].int_or(0);
    bool is_waiting = first["state"].contains("waiting");
    // 10 s, 20 s, 40 s, ... up to five minutes between two starts, as the kubelet has it.
    Duration back_off = std::min<Duration>(std::chrono::seconds(10) * (int64_t{1} << std::min<int64_t>(restarts, 5)),
                                           std::chrono::minutes(5));
    if (!due(key, progress.crash_at, is_waiting ? back_off : delays().pod_ready)) co_return;
    progress.crash_at.reset();
    Json object = pod;
    Json state = is_waiting ? Json(Json::Object{{"running", Json::Object{{"startedAt", core().now_text()}}}})
                            : waiting("CrashLoopBackOff",
                                      fmt::format("back-off {}s restarting failed container={} pod={}_{}",
                                                  std::chrono::duration_cast<std::chrono::seconds>(back_off).count(),
                                                  first["name"].string_or(""), key.name, key.ns));
    Json statuses = container_statuses(pod, state, false, is_waiting, is_waiting ? restarts + 1 : restarts);
    Json last = is_waiting ? first["lastState"] : terminated(std::max(exit_code(pod), 1));
    for (Json& status : *statuses.if_array()) status.make("lastState") = last;
    object.make("status").make("containerStatuses") = std::move(statuses);
    set_conditions(object, false);
    co_await write(key, std::move(object));
    add_after(key, Duration::zero());
  }

  static int exit_code(const Json& pod) {
    std::string_view text = annotation(pod, "exit-code");
    int code = 0;
    std::from_chars(text.data(), text.data() + text.size(), code);
    return code;
  }

  Json terminated(int code) {
    return Json::Object{{"terminated", Json::Object{{"exitCode", code},
                                                    {"reason", code == 0 ? "Completed" : "Error"},
                                                    {"finishedAt", core().now_text()}}}};
  }

  Task<void> end(Place key, Json pod) {
    int code = exit_code(pod);
    Json object = pod;
    object.make("status").make("phase") = code == 0 ? "Succeeded" : "Failed";
    object.make("status").make("containerStatuses") = container_statuses(pod, terminated(code), false, false);
    set_conditions(object, false);
    if (code == 0)
      for (std::string_view type : {"Ready", "ContainersReady"})
        set_condition(object, condition(type, false, "PodCompleted"));
    co_await write(key, std::move(object));
  }

  Task<void> finish(Place key, const Json& pod) {
    std::string uid = uid_of(pod);
    (void)co_await actor_.remove(
        kPods, key, Json::Object{{"gracePeriodSeconds", 0}, {"preconditions", Json::Object{{"uid", uid}}}});
  }

  std::map<std::string, Progress> progress_;
  uint64_t next_address_ = 0;
};

}  // namespace

std::unique_ptr<Controller> make_pod_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<PodController>(server, scope);
}

}  // namespace fairlead::sandbox
