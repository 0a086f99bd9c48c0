#include "rollout/guards/missing.h"

#include <algorithm>

namespace fairlead::rollout {
namespace {

constexpr std::string_view kJobLabel = "batch.kubernetes.io/controller-uid";

struct Missing {
  std::string_view kind;
  std::string name;
};

// Finds the missing objects in texts such as: secret "db" not found, configmap "settings" not found
std::vector<Missing> missing_in(std::string_view text) {
  std::vector<Missing> all;
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"secret \"", "Secret"},
                                                                      {"configmap \"", "ConfigMap"}};
  for (const auto& [word, kind] : kWords)
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      size_t begin = at + word.size();
      size_t end = text.find('"', begin);
      if (end == std::string_view::npos || !text.substr(end).starts_with("\" not found")) continue;
      all.push_back({.kind = kind, .name = std::string(text.substr(begin, end - begin))});
    }
  return all;
}

std::string text_of(const Run& run, const std::string& ns, const Missing& missing) {
  std::string text = fmt::format("{} {}/{} does not exist", missing.kind, ns, missing.name);
  auto node = run.find({.group = "", .kind = std::string(missing.kind), .ns = ns, .name = missing.name});
  return node ? text + ", and is part of this bundle" : text;
}

std::string advice_for(const std::string& ns, const Missing& missing) {
  return fmt::format("add {} {}/{} to the manifests, or create it", missing.kind, ns, missing.name);
}

bool is_starting(const Json& pod) {
  return pod["status"]["phase"].string_or("Pending") == "Pending" && !pod["metadata"].contains("deletionTimestamp");
}

// Returns what the kubelet last reported about mounting the pod's volumes; empty if it reported nothing.
std::string_view mount_failure(const Evidence& evidence, const Json& pod) {
  std::string_view uid = pod["metadata"]["uid"].string_or("");
  const Json* last = nullptr;
  for (const Json* event : evidence.mount_failures(std::string(pod["metadata"]["namespace"].string_or("")))) {
    if ((*event)["involvedObject"]["uid"].string_or("?") != uid) continue;
    auto time = [](const Json& one) { return one["lastTimestamp"].string_or(""); };
    if (!last || time(*last) <= time(*event)) last = event;
  }
  return last ? (*last)["message"].string_or("") : std::string_view();
}

}  // namespace

Json as_stored(const Run& run, NodeId node) {
  const ObjectState& state = run.state(node);
  Json value = run.object(node).value();
  if (state.uid.empty()) return value;
  value.make("metadata").make("uid") = state.uid;
  bool has_selector = value["spec"]["selector"].is_object();
  if (value["kind"].string_or("") == "Job" && !has_selector)
    value.make("spec").make("selector").make("matchLabels").make(kJobLabel) = state.uid;
  return value;
}

void add_missing(readiness::Why& why, const Run& run, const Evidence& evidence, const Json& workload) {
  std::string ns(workload["metadata"]["namespace"].string_or(""));
  for (std::string& cause : why.causes)
    if (std::vector<Missing> missing = missing_in(cause); missing.size() == 1) {
      cause = text_of(run, ns, missing.front());
      why.next = advice_for(ns, missing.front());
      return;
    }
  for (const Json* pod : evidence.pods(ns)) {
    if (!is_starting(*pod) || !readiness::belongs(*pod, workload)) continue;
    std::vector<Missing> missing = missing_in(mount_failure(evidence, *pod));
    if (missing.empty()) continue;
    std::string text = fmt::format("pod {} cannot start", (*pod)["metadata"]["name"].string_or("?"));
    for (const Missing& one : missing)
      text += fmt::format("{} {}", &one == &missing.front() ? ":" : ",", text_of(run, ns, one));
    std::erase_if(why.causes, [](const std::string& cause) { return cause.starts_with("pod "); });
    why.causes.push_back(std::move(text));
    why.next = advice_for(ns, missing.front());
    why.grave = true;
    return;
  }
}

readiness::Why why_pods(const Run& run, const Evidence& evidence, NodeId node, const Json& workload) {
  const std::string& ns = run.object(node).ns();
  if (!evidence.knows("Pod", ns)) return {};
  readiness::Why why = readiness::why_not_ready(workload, evidence.pods(ns), {.begun = run.begun_at_server()});
  if (!why.causes.empty()) add_missing(why, run, evidence, workload);
  return why;
}

}  // namespace fairlead::rollout
