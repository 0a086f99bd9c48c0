#include <algorithm>
#include <array>
#include <map>

#include "base/timestamp.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/subject.h"
#include "doctor/internal/texts.h"
#include "doctor/internal/warnings.h"
#include "object/condition.h"
#include "readiness/verdict.h"
#include "readiness/why.h"

namespace fairlead::doctor {
namespace {

using readiness::State;

// A rollout or a start that takes less than this is nothing to report.
constexpr Duration kStartTakes = std::chrono::minutes(5);

bool is_old(const Snapshot& snapshot, std::string_view timestamp) {
  std::optional<WallTime> then = parse_timestamp(timestamp);
  return !then || *then + kStartTakes < snapshot.now;
}

// When the state of the workload last changed, as far as its conditions tell.
std::string_view last_change(const Json& object) {
  std::string_view newest = object["metadata"]["creationTimestamp"].string_or("");
  for (const Json& condition : object["status"]["conditions"].items())
    newest = std::max(newest, condition["lastTransitionTime"].string_or(""));
  return newest;
}

const Json* controller_of(const Json& object) {
  for (const Json& owner : object["metadata"]["ownerReferences"].items())
    if (owner["controller"].bool_or(false)) return &owner;
  return nullptr;
}

// The pods that belong to the object and are not ready.
std::vector<object::Key> unready_pods(const Json& object, const readiness::Objects& pods) {
  std::vector<object::Key> unready;
  for (const Json* pod : pods)
    if (pod != &object && readiness::belongs(*pod, object) && readiness::judge(*pod).state != State::ready)
      unready.push_back(key_of(*pod));
  return unready;
}

void check_one(const Snapshot& snapshot, const Json& object, std::string_view code, Findings& findings) {
  readiness::Verdict verdict = readiness::judge(object);
  if (verdict.state == State::ready || verdict.state == State::terminating) return;
  readiness::Objects pods = snapshot.in_namespace("Pod", namespace_of(object));
  readiness::Why why = readiness::why_not_ready(object, pods);
  bool is_certain = verdict.state == State::failed || why.grave;
  if (!is_certain && !is_old(snapshot, last_change(object))) return;
  // With some replicas ready it still works.
  bool works = object["status"]["readyReplicas"].int_or(object["status"]["numberReady"].int_or(0)) > 0;
  object::Key key = key_of(object);
  findings.push_back({.code = code,
                      .severity = works ? Severity::warning : Severity::error,
                      .object = key,
                      .what = fmt::format("{} is not ready: {}", key.text(), verdict.reason),
                      .causes = std::move(why.causes),
                      .next = why.next.empty() ? describe_command(key) : std::move(why.next),
                      .related = unready_pods(object, pods)});
}

// A Job of a CronJob counts only if it is the newest: later ones have replaced the others.
std::vector<const Json*> current_jobs(const Snapshot& snapshot) {
  std::vector<const Json*> jobs;
  std::map<std::string, const Json*> newest;
  auto created = [](const Json& job) { return job["metadata"]["creationTimestamp"].string_or(""); };
  for (const Json& job : snapshot.all("Job")) {
    const Json* owner = controller_of(job);
    if (!owner) {
      jobs.push_back(&job);
      continue;
    }
    const Json*& known = newest[std::string((*owner)["uid"].string_or(""))];
    if (!known || created(*known) < created(job)) known = &job;
  }
  for (auto& [owner, job] : newest) jobs.push_back(job);
  return jobs;
}

// Tells whether a Service selects anything, without comparing it with every pod of its namespace.
class LabelledPods {
 public:
  explicit LabelledPods(const Snapshot& snapshot) {
    for (const Json& pod : snapshot.all("Pod")) add(namespace_of(pod), pod["metadata"]["labels"]);
    for (std::string_view kind : kWorkloads)
      for (const Json& workload : snapshot.all(kind))
        add(namespace_of(workload), workload["spec"]["template"]["metadata"]["labels"]);
  }

  // Whether a pod has these labels, or a workload makes pods that have them.
  bool has(std::string_view ns, const Json& labels) const {
    const std::vector<const Json*>* fewest = nullptr;
    for (const auto& [name, value] : labels.members()) {
      auto found = by_label_.find({std::string(ns), name, std::string(value.string_or(""))});
      if (found == by_label_.end()) return false;
      if (!fewest || found->second.size() < fewest->size()) fewest = &found->second;
    }
    auto has_all = [&](const Json* candidate) {
      return std::ranges::all_of(labels.members(), [&](const Json::Member& label) {
        return (*candidate)[label.key].string_or("") == label.value.string_or("");
      });
    };
    return fewest && std::ranges::any_of(*fewest, has_all);
  }

 private:
  void add(std::string_view ns, const Json& labels) {
    for (const auto& [name, value] : labels.members())
      by_label_[{std::string(ns), name, std::string(value.string_or(""))}].push_back(&labels);
  }

  // The labels of pods, by namespace and by each name and value in them.
  std::map<std::array<std::string, 3>, std::vector<const Json*>> by_label_;
};

// The slices of each Service, by its namespace and name.
std::map<std::pair<std::string_view, std::string_view>, readiness::Objects> slices_by_service(
    const Snapshot& snapshot) {
  std::map<std::pair<std::string_view, std::string_view>, readiness::Objects> slices;
  for (const Json& slice : snapshot.all("EndpointSlice")) {
    std::string_view service = slice["metadata"]["labels"]["kubernetes.io/service-name"].string_or("");
    slices[{namespace_of(slice), service}].push_back(&slice);
  }
  return slices;
}

std::string blocked_by_hook(const Json& job, std::string_view what_helm_does) {
  std::string_view hook = job["metadata"]["annotations"]["helm.sh/hook"].string_or("");
  return hook.empty() ? "" : fmt::format("the Helm release that it is a hook of ({}): {}", hook, what_helm_does);
}

// Whether a container of the pod runs, be it one that only prepares the others.
bool runs(const Json& pod) {
  for (std::string_view list : {"initContainerStatuses", "containerStatuses"})
    for (const Json& status : pod["status"][list].items())
      if (status["state"]["running"].is_object()) return true;
  return false;
}

// A Job that has not ended, and none of whose pods runs.
void check_stuck_job(const Snapshot& snapshot, const Json& job, const readiness::Verdict& verdict, Findings& findings) {
  if (verdict.state != State::in_progress) return;
  readiness::Objects pods = snapshot.in_namespace("Pod", namespace_of(job));
  bool is_running =
      std::ranges::any_of(pods, [&](const Json* pod) { return runs(*pod) && readiness::belongs(*pod, job); });
  readiness::Why why = readiness::why_not_ready(job, pods);
  // Without all pods, it is not known that there is none.
  bool is_late = snapshot.sees_all("Pod") && is_old(snapshot, last_change(job));
  if (is_running || (!why.grave && !is_late)) return;
  if (why.causes.empty()) why.causes.push_back(verdict.reason);
  object::Key key = key_of(job);
  findings.push_back({.code = "job-stuck",
                      .severity = Severity::warning,
                      .object = key,
                      .what = fmt::format("{} does not run", key.text()),
                      .causes = std::move(why.causes),
                      .blocks = blocked_by_hook(job, "helm waits for it"),
                      .next = why.next.empty() ? describe_command(key) : std::move(why.next),
                      .related = unready_pods(job, pods)});
}

}  // namespace

void check_readiness(const Snapshot& snapshot, const Json& object, Findings& findings) {
  bool is_pod = object["kind"].string_or("") == "Pod";
  size_t before = findings.size();
  check_one(snapshot, object, is_pod ? "pod-not-ready" : "object-not-ready", findings);
  if (findings.size() == before || is_pod) return;
  Finding& finding = findings.back();
  finding.severity = Severity::warning;
  if (std::string warning = newest_warning(snapshot, finding.object); !warning.empty())
    finding.causes.push_back(std::move(warning));
}

void check_workloads(const Snapshot& snapshot, Findings& findings) {
  for (std::string_view kind : kWorkloads)
    for (const Json& workload : snapshot.all(kind)) check_one(snapshot, workload, "workload-not-ready", findings);
  for (const Json& pod : snapshot.all("Pod"))
    if (!controller_of(pod)) check_one(snapshot, pod, "pod-not-ready", findings);
}

void check_jobs(const Snapshot& snapshot, Findings& findings) {
  for (const Json* job : current_jobs(snapshot)) {
    readiness::Verdict verdict = readiness::judge(*job);
    check_stuck_job(snapshot, *job, verdict, findings);
    if (verdict.state != State::failed) continue;
    object::Key key = key_of(*job);
    Finding finding{.code = "job-failed",
                    .severity = Severity::warning,
                    .object = key,
                    .what = fmt::format("{} has failed", key.text()),
                    .causes = {verdict.reason},
                    .blocks = blocked_by_hook(*job, "install or upgrade it again"),
                    .next = fmt::format("kubectl -n {} logs job/{} --all-containers", key.ns, key.name)};
    // If its pods have been deleted since, that is not why it failed.
    std::vector<const Json*> pods = snapshot.in_namespace("Pod", key.ns);
    if (std::ranges::any_of(pods, [&](const Json* pod) { return readiness::belongs(*pod, *job); }))
      for (std::string& cause : readiness::why_not_ready(*job, pods).causes) finding.causes.push_back(std::move(cause));
    findings.push_back(std::move(finding));
  }
}

void check_services(const Snapshot& snapshot, Findings& findings) {
  if (!snapshot.sees_all("Pod") || !snapshot.sees_all("EndpointSlice")) return;
  LabelledPods pods(snapshot);
  auto slices = slices_by_service(snapshot);
  for (const Json& service : snapshot.all("Service")) {
    const Json& selector = service["spec"]["selector"];
    if (selector.members().empty() || service["spec"]["type"].string_or("") == "ExternalName") continue;
    // Pods that are not ready have a finding of their own, and a workload may have no pods on purpose.
    if (pods.has(namespace_of(service), selector)) continue;
    if (readiness::count_endpoints(service, slices[{namespace_of(service), name_of(service)}]).all > 0) continue;
    if (!is_old(snapshot, service["metadata"]["creationTimestamp"].string_or(""))) continue;
    object::Key key = key_of(service);
    readiness::Why why = readiness::why_no_endpoints(service, {}, {});
    findings.push_back({.code = "service-selects-nothing",
                        .severity = Severity::info,
                        .object = key,
                        .what = fmt::format("{} selects no pods", key.text()),
                        .causes = std::move(why.causes),
                        .next = describe_command(key)});
  }
}

}  // namespace fairlead::doctor
