#include "readiness/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/plain_text.h"
#include "base/timestamp.h"
#include "object/selector.h"
#include "readiness/internal/verdict_rules.h"
#include "readiness/internal/why_pod.h"

namespace fairlead::readiness {
namespace {

constexpr size_t kCauseBytes = 400;

std::string_view name_of(const Json& object) { return object["metadata"]["name"].string_or("?"); }
std::string_view ns_of(const Json& object) { return object["metadata"]["namespace"].string_or(""); }
std::string_view kind_of(const Json& object) { return object["kind"].string_or(""); }

object::Selector selector_of(const Json& workload) {
  const Json& selector = workload["spec"]["selector"];
  bool is_plain = kind_of(workload) == "Service" || kind_of(workload) == "ReplicationController";
  Result<object::Selector> parsed =
      is_plain ? object::Selector::from_service(selector) : object::Selector::from_json(selector);
  return parsed ? *std::move(parsed) : object::Selector::nothing();
}

bool is_owned_by(const Json& pod, const Json& workload) {
  std::string_view uid = workload["metadata"]["uid"].string_or("");
  for (const Json& owner : pod["metadata"]["ownerReferences"].items()) {
    if (!owner["controller"].bool_or(false)) continue;
    // The pods of a Deployment belong to its ReplicaSets, whose names start with the name of the Deployment.
    if (kind_of(workload) == "Deployment")
      return kind_of(owner) == "ReplicaSet" &&
             owner["name"].string_or("").starts_with(fmt::format("{}-", name_of(workload)));
    return owner["uid"].string_or("?") == uid;
  }
  return false;
}

bool belongs_by(const object::Selector& selector, const Json& pod, const Json& workload) {
  if (ns_of(pod) != ns_of(workload)) return false;
  if (kind_of(workload) == "Pod") return name_of(pod) == name_of(workload);
  if (!selector.matches(pod["metadata"]["labels"])) return false;
  return kind_of(workload) == "Service" || is_owned_by(pod, workload);
}

// Returns the revision of the workload that a pod belongs to. Empty for workloads without revisions.
std::string_view revision_of(const Json& pod) {
  const Json& labels = pod["metadata"]["labels"];
  return labels["pod-template-hash"].string_or(labels["controller-revision-hash"].string_or(""));
}

std::string_view newest_revision(const Json& workload, const Objects& pods) {
  std::string_view known = workload["status"]["updateRevision"].string_or("");
  if (!known.empty()) return known;
  // Timestamps in the same format and time zone sort as text.
  auto created = [](const Json* pod) { return (*pod)["metadata"]["creationTimestamp"].string_or(""); };
  auto newest = std::ranges::max_element(pods, {}, created);
  return newest == pods.end() ? std::string_view() : revision_of(**newest);
}

bool template_has_image(const Json& workload, std::string_view image) {
  const Json& pod_template = workload["spec"]["template"];
  if (!pod_template.is_object()) return true;
  for (std::string_view list : {"containers", "initContainers"})
    for (const Json& container : pod_template["spec"][list].items())
      if (container["image"].string_or("") == image) return true;
  return false;
}

bool is_permanent(const Json& workload, const Json& pod, const Trouble& trouble, const WhyOptions& options) {
  if (!trouble.is_never()) return false;
  // An invalid image name stays invalid as long as the template has it.
  if (trouble.word == "InvalidImageName") return template_has_image(workload, trouble.image);
  if (!options.begun) return true;
  std::optional<WallTime> created = parse_timestamp(pod["metadata"]["creationTimestamp"].string_or(""));
  // The API server's timestamps are whole seconds.
  return created && *created >= std::chrono::floor<std::chrono::seconds>(*options.begun);
}

struct Suspect {
  const Json* pod = nullptr;
  Trouble trouble;
  bool is_newest = false;
};

void add_cause(Why& why, std::string_view text) {
  std::string cause = plain_text(text, kCauseBytes);
  if (!cause.empty()) why.causes.push_back(std::move(cause));
}

// Reports the gravest trouble among pods of the newest revision, or if they have none, of any revision. Among equals
// the first pod by name is taken, so that reports are repeatable.
Why blame(const Json& workload, const Objects& pods, const WhyOptions& options) {
  std::string_view revision = newest_revision(workload, pods);
  std::vector<Suspect> suspects;
  for (const Json* pod : pods)
    if (Trouble trouble = trouble_of(*pod); trouble.weight != Trouble::Weight::none)
      suspects.push_back({.pod = pod, .trouble = std::move(trouble), .is_newest = revision_of(*pod) == revision});
  Why why;
  if (suspects.empty()) return why;
  std::ranges::sort(suspects, [](const Suspect& a, const Suspect& b) {
    if (a.is_newest != b.is_newest) return a.is_newest;
    if (a.trouble.weight != b.trouble.weight) return a.trouble.weight > b.trouble.weight;
    return name_of(*a.pod) < name_of(*b.pod);
  });
  const Suspect& worst = suspects.front();
  auto alike = std::ranges::count_if(suspects, [&](const Suspect& other) {
    return other.is_newest == worst.is_newest && other.trouble.word == worst.trouble.word;
  });
  std::string text = fmt::format("pod {} {}", name_of(*worst.pod), worst.trouble.text);
  if (alike > 1) text += fmt::format(" (and {} more pod{})", alike - 1, alike == 2 ? "" : "s");
  add_cause(why, text);
  add_cause(why, worst.trouble.cause);
  why.next = next_command(*worst.pod, worst.trouble);
  why.grave = worst.trouble.weight >= Trouble::Weight::backing_off;
  why.permanent = worst.is_newest && is_permanent(workload, *worst.pod, worst.trouble, options);
  return why;
}

Objects pods_of(const Json& workload, const Objects& pods) {
  object::Selector selector = selector_of(workload);
  Objects own;
  for (const Json* pod : pods)
    if (belongs_by(selector, *pod, workload)) own.push_back(pod);
  return own;
}

// Returns the resource name for kubectl. Empty for kinds that create no pods.
std::string_view resource_of(std::string_view kind) {
  if (kind == "Deployment") return "deployment";
  if (kind == "StatefulSet") return "statefulset";
  if (kind == "DaemonSet") return "daemonset";
  if (kind == "ReplicaSet") return "replicaset";
  if (kind == "ReplicationController") return "replicationcontroller";
  if (kind == "Job") return "job";
  return {};
}

// Explains a workload without any pods by its own status.
Why without_pods(const Json& workload) {
  Why why;
  std::string_view kind = kind_of(workload);
  std::string_view resource = resource_of(kind);
  if (resource.empty() || workload["spec"]["replicas"].int_or(1) == 0) return why;
  add_cause(why, "none of its pods exists yet");
  if (const Json& failure = condition(workload, "ReplicaFailure"); has_status(failure, "True"))
    add_cause(why, reason_text(failure, "its pods cannot be created"));
  why.next = describe_command(resource, workload);
  return why;
}

}  // namespace

std::optional<Error> Why::error(ErrorKind kind) const {
  std::optional<Error> chain;
  for (auto cause = causes.rbegin(); cause != causes.rend(); ++cause) {
    Error error(kind, *cause);
    chain = chain ? std::move(error).because(*std::move(chain)) : std::move(error);
  }
  if (chain && !next.empty()) chain = (*std::move(chain)).next(next);
  return chain;
}

bool belongs(const Json& pod, const Json& workload) { return belongs_by(selector_of(workload), pod, workload); }

Why why_not_ready(const Json& workload, const Objects& pods, const WhyOptions& options) {
  Objects own = pods_of(workload, pods);
  return own.empty() ? without_pods(workload) : blame(workload, own, options);
}

EndpointCount count_endpoints(const Json& service, const Objects& slices) {
  std::set<std::string_view> all;
  std::set<std::string_view> ready_ones;
  for (const Json* slice : slices) {
    if (ns_of(*slice) != ns_of(service)) continue;
    if ((*slice)["metadata"]["labels"]["kubernetes.io/service-name"].string_or("") != name_of(service)) continue;
    for (const Json& endpoint : (*slice)["endpoints"].items()) {
      // A pod with several IP families is in one slice per family.
      std::string_view who = endpoint["targetRef"]["name"].string_or(endpoint["addresses"].item(0).string_or(""));
      all.insert(who);
      if (endpoint["conditions"]["ready"].bool_or(true)) ready_ones.insert(who);
    }
  }
  return {.ready = ready_ones.size(), .all = all.size()};
}

Why why_no_endpoints(const Json& service, const Objects& slices, const Objects& pods, const WhyOptions& options) {
  EndpointCount endpoints = count_endpoints(service, slices);
  if (endpoints.ready > 0) return {};
  std::string whole = fmt::format("service {}/{}", ns_of(service), name_of(service));
  Why why;
  if (endpoints.all == 0) add_cause(why, whole + " has no endpoints");
  else add_cause(why, fmt::format("{} has 0 of {} endpoints ready", whole, endpoints.all));

  object::Selector selector = selector_of(service);
  if (selector.matches_nothing()) {
    add_cause(why, "it has no selector, so it selects no pods");
    why.next = describe_command("service", service);
    return why;
  }
  Objects own = pods_of(service, pods);
  if (own.empty()) {
    add_cause(why, fmt::format("no pod has the labels that it selects: {}", selector.text()));
    why.next = describe_command("service", service);
    return why;
  }
  Why blamed = blame(service, own, options);
  if (blamed.causes.empty()) {
    add_cause(why, "its pods are ready, but not among its endpoints yet");
    why.next = describe_command("service", service);
    return why;
  }
  for (std::string& cause : blamed.causes) why.causes.push_back(std::move(cause));
  why.next = std::move(blamed.next);
  // A Service may select pods of several workloads, so one pod that never starts does not decide.
  why.permanent = blamed.permanent && own.size() == 1;
  return why;
}

}  // namespace fairlead::readiness
