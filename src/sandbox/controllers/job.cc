// Jobs: pods that run to their end, again until enough have succeeded or too many have failed.
#include <fmt/format.h>

#include <algorithm>

#include "sandbox/controllers/workload.h"
#include "sandbox/core/conditions.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kJobs{"batch", "jobs"};
constexpr std::string_view kTracking = "batch.kubernetes.io/job-tracking";

class JobController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kJobs) add(event.place);
    if (resource != kPods) return;
    if (std::optional<Place> owner = owner_place(event.place, *event.object, "Job")) add(*owner);
    // A pod that has lost its Job is not held for it any more.
    else if (event.type != Event::Type::deleted && is_tracked(*event.object)) add(event.place);
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr job = core().store.find(kJobs, key);
    if (!job) {
      co_await release_orphans(key);
      co_return;
    }
    if (is_deleting(*job) || condition_is_true(*job, "Complete") || condition_is_true(*job, "Failed")) {
      co_await release_pods(*job);
      co_return;
    }
    co_await run(key, *job);
  }

 private:
  static bool is_tracked(const Json& pod) {
    for (const Json& one : pod["metadata"]["finalizers"].items())
      if (one.string_or("") == kTracking) return true;
    return false;
  }

  Task<void> untrack(Json pod) {
    if (!is_tracked(pod)) co_return;
    Json::Array left;
    for (const Json& one : pod["metadata"]["finalizers"].items())
      if (one.string_or("") != kTracking) left.push_back(one);
    Json list = left.empty() ? Json() : Json(std::move(left));
    (void)co_await actor_.patch(kPods, place_of(pod),
                                Json::Object{{"metadata", Json::Object{{"finalizers", std::move(list)}}}});
  }

  Task<void> release_pods(Json job) {
    for (const ObjectPtr& pod : controlled_by(core(), kPods, job)) co_await untrack(*pod);
  }

  // The key may be a pod without an owner, or a Job that is gone.
  Task<void> release_orphans(Place key) {
    std::vector<ObjectPtr> pods;
    const Store::Objects& all = core().store.all(kPods);
    for (auto at = all.lower_bound({key.ns, ""}); at != all.end() && at->first.ns == key.ns; ++at) {
      if (!is_tracked(*at->second)) continue;
      const Json& owner = controller_of(*at->second);
      if (at->first == key || owner["name"].string_or("") == key.name) pods.push_back(at->second);
    }
    for (const ObjectPtr& pod : pods) co_await untrack(*pod);
  }

  Task<void> run(Place key, Json job) {
    std::vector<ObjectPtr> pods = controlled_by(core(), kPods, job);
    int64_t active = 0, succeeded = 0, failed = 0, ready = 0;
    for (const ObjectPtr& pod : pods) {
      std::string_view phase = (*pod)["status"]["phase"].string_or("");
      if (phase == "Succeeded") ++succeeded;
      else if (phase == "Failed") ++failed;
      else if (!is_deleting(*pod)) {
        ++active;
        if (is_ready(*pod)) ++ready;
      }
    }
    int64_t completions = job["spec"]["completions"].int_or(1);
    int64_t parallelism = job["spec"]["parallelism"].int_or(1);
    bool complete = succeeded >= completions, over = failed > job["spec"]["backoffLimit"].int_or(6);
    bool suspended = job["spec"]["suspend"].bool_or(false);
    if (complete || over || suspended) {
      for (const ObjectPtr& pod : pods)
        if (is_active(*pod)) {
          (void)co_await actor_.remove(kPods, place_of(*pod));
          --active;
        }
    } else {
      int64_t wanted = std::min(parallelism, completions - succeeded);
      Duration back_off = failed > 0
                              ? Duration(std::chrono::seconds(10) * (int64_t{1} << std::min<int64_t>(failed - 1, 5)))
                              : Duration::zero();
      if (active < wanted && wait_over(job, failed, back_off, key)) {
        for (; active < wanted; ++active) {
          Json pod = pod_from(job["spec"]["template"], job);
          pod.make("metadata").make("generateName") = key.name + "-";
          Json& finalizers = pod.make("metadata").make("finalizers");
          if (!finalizers.is_array()) finalizers = Json::Array{};
          finalizers.if_array()->emplace_back(kTracking);
          Outcome<Json> created = co_await actor_.create(kPods, key.ns, std::move(pod));
          if (!created) {
            record_event(core(), job, "Warning", "FailedCreate", "Error creating: " + created.error().message,
                         "job-controller");
            add_after(key, std::chrono::seconds(1));
            break;
          }
          record_event(core(), job, "Normal", "SuccessfulCreate",
                       fmt::format("Created pod: {}", (*created)["metadata"]["name"].string_or("")), "job-controller");
        }
      }
    }
    co_await write_status(key, {active, succeeded, failed, ready}, complete, over);
  }

  // After a failure the next pod waits: 10 s, 20 s, ...
  bool wait_over(const Json& job, int64_t failed, Duration back_off, const Place& key) {
    if (failed == 0) return true;
    auto [entry, is_new] = retry_at_.try_emplace({uid_of(job), failed}, core().loop.now() + back_off);
    if (entry->second <= core().loop.now()) return true;
    add_after(key, entry->second - core().loop.now());
    return false;
  }

  Json condition(std::string_view type, std::string_view reason, std::string_view message) {
    return Json::Object{{"type", type},
                        {"status", "True"},
                        {"lastProbeTime", core().now_text()},
                        {"lastTransitionTime", core().now_text()},
                        {"reason", reason},
                        {"message", message}};
  }

  struct Counts {
    int64_t active = 0, succeeded = 0, failed = 0, ready = 0;
  };

  Task<void> write_status(Place key, Counts counts, bool complete, bool over) {
    auto [active, succeeded, failed, ready] = counts;
    ObjectPtr job = core().store.find(kJobs, key);
    if (!job) co_return;
    const Json& before = (*job)["status"];
    Json object = *job;
    Json::Object status;
    if (before.contains("conditions")) status.append("conditions", before["conditions"]);
    bool suspended = (*job)["spec"]["suspend"].bool_or(false);
    if (!suspended)
      status.append("startTime", before.contains("startTime") ? before["startTime"] : Json(core().now_text()));
    if (active) status.append("active", active);
    if (succeeded) status.append("succeeded", succeeded);
    if (failed) status.append("failed", failed);
    status.append("terminating", 0);
    status.append("uncountedTerminatedPods", Json::Object{});
    status.append("ready", ready);
    object.make("status") = std::move(status);
    if (suspended && !condition_is_true(object, "Suspended"))
      set_condition(object, condition("Suspended", "JobSuspended", "Job suspended"));
    if (complete) {
      constexpr std::string_view kText = "Reached expected number of succeeded pods";
      object.make("status").make("completionTime") = core().now_text();
      set_condition(object, condition("SuccessCriteriaMet", "CompletionsReached", kText));
      set_condition(object, condition("Complete", "CompletionsReached", kText));
      record_event(core(), *job, "Normal", "Completed", "Job completed", "job-controller");
    } else if (over) {
      constexpr std::string_view kText = "Job has reached the specified backoff limit";
      set_condition(object, condition("FailureTarget", "BackoffLimitExceeded", kText));
      set_condition(object, condition("Failed", "BackoffLimitExceeded", kText));
      record_event(core(), *job, "Warning", "BackoffLimitExceeded", std::string(kText), "job-controller");
    }
    if (object["status"].same_as(before)) co_return;
    Outcome<Json> written = co_await actor_.update(kJobs, std::move(object), "status");
    if (!written && written.error().code == 409) add(key);
  }

  std::map<std::pair<std::string, int64_t>, TimePoint> retry_at_;
};

}  // namespace

std::unique_ptr<Controller> make_job_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<JobController>(server, scope);
}

}  // namespace fairlead::sandbox
